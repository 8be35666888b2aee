import type { CommandDescription } from "./command_description.ts";

/** The command line does not fit the command; `cmd` is the command it was meant for. */
export class ValidationError extends Error {
  readonly exitCode: number;
  cmd?: CommandDescription;

  constructor(message: string, options: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options);
    this.exitCode = options.exitCode ?? 2;
  }
}
