/**
 * Calls of the program of a keyring.
 *
 * @module
 */

import { describeFailure, type ProgramResult, runProgram } from "../host/run_program.ts";

/** Unlocking the keyring asks the user for a password. */
const TIMEOUT_MS = 60_000;

/** Calls the program of a keyring. */
export interface ProgramCaller {
  /** Runs it. A key is passed as its standard input, since other users of the system can read arguments. */
  readonly run: (args: readonly string[], input?: string) => Promise<ProgramResult>;
  /** Returns its output without blanks at the ends. @throws {Error} If it did not end with 0. */
  readonly check: (result: ProgramResult) => string;
}

/** Creates the caller of a program. */
export function createCaller(program: string): ProgramCaller {
  return {
    run: (args, input = "") =>
      runProgram({ command: [program, ...args], input, timeoutMs: TIMEOUT_MS }),
    check(result) {
      if (result.type === "ended" && result.code === 0) return result.output.trim();
      throw new Error(describeFailure({ command: [program], timeoutMs: TIMEOUT_MS }, result));
    },
  };
}
