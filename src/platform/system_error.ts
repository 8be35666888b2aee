/**
 * Errors of the operating system.
 *
 * @module
 */

/** Codes of errors to which Deno gives a name and not always a code. */
const CODES_BY_NAME: Readonly<Record<string, string>> = {
  NotFound: "ENOENT",
  FilesystemLoop: "ELOOP",
};

/** Returns the code of an error of the operating system, such as `ENOENT`; `undefined` for any other error. */
export function getSystemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  return CODES_BY_NAME[error.name];
}

/** Whether the runtime refused an operation because the program was started without the permission for it. */
export function isMissingPermission(error: unknown): boolean {
  return error instanceof Error &&
    (error.name === "NotCapable" || getSystemErrorCode(error) === "ERR_ACCESS_DENIED");
}
