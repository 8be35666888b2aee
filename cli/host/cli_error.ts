/**
 * Errors that end the program with a message and an exit code.
 *
 * @module
 */

import { ExitCode } from "./exit_code.ts";

/** Ends the program with a message and an exit code. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  /** Exit code of the program. */
  readonly exitCode: ExitCode;
  /** How to correct the failure, printed below the message; may be empty. */
  readonly advice: string;

  constructor(message: string, options: { readonly exitCode: ExitCode; readonly advice?: string }) {
    super(message);
    this.exitCode = options.exitCode;
    this.advice = options.advice ?? "";
  }
}

/** The command line is invalid. */
export class UsageError extends CliError {
  override readonly name = "UsageError";

  constructor(message: string, advice = "") {
    super(message, { exitCode: ExitCode.usage, advice });
  }
}

/** The model or the key is missing or invalid. */
export class ConfigurationError extends CliError {
  override readonly name = "ConfigurationError";

  constructor(message: string, advice = "") {
    super(message, { exitCode: ExitCode.configuration, advice });
  }
}
