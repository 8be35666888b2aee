/**
 * What the program's exit codes mean; help and documentation are made from this.
 *
 * @module
 */

/** The exit codes of `swink`. A status of a server never becomes one. */
export const ExitCode = {
  /** Everything went well. */
  ok: 0,
  /** The run failed. */
  failed: 1,
  /** The command line does not make sense. */
  usage: 2,
  /** There is no model, no key, or not the right one. */
  configuration: 3,
  /** The provider could not be reached, or kept refusing. */
  unavailable: 4,
  /** A limit ended the run. */
  limit: 5,
  /** A call needed permission, and nobody could be asked. */
  refused: 6,
  /** A patch was asked for, and nothing changed. */
  noPatch: 7,
  /** Interrupted, by Ctrl+C. */
  interrupted: 130,
  /** Whoever read the output went away before its end. */
  brokenPipe: 141,
  /** Terminated, by SIGTERM. */
  terminated: 143,
} as const;

/** One of the exit codes of `swink`. */
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The exit codes in words, in order. */
export const EXIT_CODES: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [ExitCode.ok, "everything went well"],
  [ExitCode.failed, "the run failed"],
  [ExitCode.usage, "the command line does not make sense"],
  [ExitCode.configuration, "no model or no key, or not the right one"],
  [ExitCode.unavailable, "the provider was not reached, or kept refusing"],
  [ExitCode.limit, "a limit ended the run: turns, budget, length of the reply"],
  [ExitCode.refused, "a tool call needed permission and nobody could be asked"],
  [ExitCode.noPatch, "--patch was given and nothing changed"],
  [ExitCode.interrupted, "interrupted (Ctrl+C)"],
  [ExitCode.brokenPipe, "the reader of the output went away"],
  [ExitCode.terminated, "terminated (SIGTERM)"],
];
