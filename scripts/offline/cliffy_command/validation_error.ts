import type { Command } from "./command.ts";

/** Thrown when a command line is invalid for the command `cmd`. */
export class ValidationError extends Error {
  readonly exitCode: number = 2;
  cmd?: Command;
}
