import type { Command } from "./command.ts";

/** The command line does not fit the command `cmd`. */
export class ValidationError extends Error {
  readonly exitCode: number = 2;
  cmd?: Command;
}
