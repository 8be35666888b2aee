/**
 * Reasons not to go on, for the person at the keyboard.
 *
 * @module
 */

import { ExitCode } from "./exit_code.ts";

/** Ends the program with a message and an exit code. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  /** What the program exits with. */
  readonly exitCode: ExitCode;
  /** What to do about it; printed below the message. */
  readonly advice: string;

  /** Makes the error. */
  constructor(message: string, options: { readonly exitCode: ExitCode; readonly advice?: string }) {
    super(message);
    this.exitCode = options.exitCode;
    this.advice = options.advice ?? "";
  }
}

/** The command line does not make sense. */
export class UsageError extends CliError {
  override readonly name = "UsageError";

  /** Makes the error. */
  constructor(message: string, advice = "") {
    super(message, { exitCode: ExitCode.usage, advice });
  }
}

/** There is no model, no key, or not the right one. */
export class ConfigurationError extends CliError {
  override readonly name = "ConfigurationError";

  /** Makes the error. */
  constructor(message: string, advice = "") {
    super(message, { exitCode: ExitCode.configuration, advice });
  }
}
