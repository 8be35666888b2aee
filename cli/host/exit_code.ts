/**
 * The exit codes of the program and their meanings, as help and documentation show them.
 *
 * @module
 */

/** The exit codes of `swink`. */
export const ExitCode = {
  /** Success. */
  ok: 0,
  /** The run failed. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /** A model, a key or a file is missing, invalid or was rejected. */
  configuration: 3,
  /** The provider is unreachable or overloaded, or a quota is exhausted. */
  unavailable: 4,
  /** A limit ended the run. */
  limit: 5,
  /** A tool call required approval in a non-interactive run. */
  refused: 6,
  /** A patch was requested and nothing changed. */
  noPatch: 7,
  /** The terminal was closed: SIGHUP. */
  hangUp: 129,
  /** Interrupted by Ctrl+C. */
  interrupted: 130,
  /** Ended by SIGQUIT, Ctrl+\. */
  quit: 131,
  /** The reader of the output closed it. */
  brokenPipe: 141,
  /** Terminated by SIGTERM. */
  terminated: 143,
} as const;

/** One of the exit codes of `swink`. */
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The exit codes and their meanings, in ascending order. */
export const EXIT_CODES: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [ExitCode.ok, "success"],
  [ExitCode.failed, "the run or the command failed"],
  [ExitCode.usage, "usage error: the command line is invalid"],
  [
    ExitCode.configuration,
    "configuration error: a model, key or file is missing, invalid or rejected",
  ],
  [ExitCode.unavailable, "provider unreachable or overloaded, or quota exhausted"],
  [ExitCode.limit, "limit reached: turns, cost, time or length of the reply"],
  [ExitCode.refused, "approval required: a tool call was refused in a non-interactive run"],
  [ExitCode.noPatch, "--patch was given and nothing changed"],
  [ExitCode.hangUp, "the terminal was closed (SIGHUP)"],
  [ExitCode.interrupted, "interrupted (Ctrl+C)"],
  [ExitCode.quit, "ended by SIGQUIT (Ctrl+\\)"],
  [ExitCode.brokenPipe, "the reader of the output closed it"],
  [ExitCode.terminated, "terminated (SIGTERM)"],
];

/** Returns the meaning of an exit code. */
export function getExitCodeMeaning(code: ExitCode): string {
  return EXIT_CODES.find(([exitCode]) => exitCode === code)?.[1] ?? "";
}
