/**
 * The command of the user that supplies a key.
 *
 * @module
 */

import { ConfigurationError } from "../host/cli_error.ts";
import { describeFailure, type ProgramCall, runProgram, toShellCall } from "../host/run_program.ts";

/** A password manager may ask the user. */
const TIMEOUT_MS = 60_000;

/** Options for `runKeyCommand()`. */
export interface KeyCommandOptions {
  /** Name of the provider. */
  readonly provider: string;
  /** Kills the command. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a key command with a shell and returns its output without blanks at the ends. The variable `SWINK_PROVIDER` has the
 * name of the provider.
 *
 * @throws {ConfigurationError} If the command fails, or its output is no key.
 */
export async function runKeyCommand(
  command: string,
  { provider, signal }: KeyCommandOptions,
): Promise<string> {
  const call: ProgramCall = {
    command: toShellCall(command),
    env: { SWINK_PROVIDER: provider },
    timeoutMs: TIMEOUT_MS,
    signal,
  };
  const result = await runProgram(call);
  const subject = `The key command for ${provider}`;
  if (result.type !== "ended" || result.code !== 0) {
    throw new ConfigurationError(`${subject}: ${describeFailure(call, result)}`);
  }
  const key = result.output.trim();
  if (isKey(key)) return key;
  throw new ConfigurationError(`${subject} printed no key: its output must be one word`);
}

/** Whether a text can be a key: one word of visible ASCII characters, as HTTP headers require. */
export function isKey(text: string): boolean {
  return /^[!-~]{1,10000}$/.test(text);
}
