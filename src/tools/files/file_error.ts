/**
 * What the operating system says about a file, in words that a model can act on.
 *
 * @module
 */

import { AgentError, BadRequestError, getErrorMessage } from "../../core/errors.ts";

const ERROR_MESSAGES: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "cannot be accessed: permission denied by the operating system",
  EPERM: "cannot be changed: not permitted by the operating system",
  EISDIR: "is a folder, not a file",
  ENOTDIR: "has a file where a folder should be",
  ELOOP: "leads in a circle of symbolic links",
  ENAMETOOLONG: "is too long a name",
  ENOSPC: "cannot be written: the disk is full",
  EDQUOT: "cannot be written: the disk quota is used up",
  EROFS: "cannot be written: the file system is read-only",
  EBUSY: "is in use by another program",
  ETXTBSY: "is a program that is running",
  EEXIST: "exists already",
  ENOTEMPTY: "is a folder that is not empty",
  EMFILE: "cannot be opened: too many files are open",
  ENFILE: "cannot be opened: too many files are open on this machine",
  ENXIO: "is a device or socket without another end",
  EIO: "cannot be read: the disk reports an error",
  ESTALE: "was on a network disk that is gone",
  EFBIG: "is larger than the file system allows",
};

/** The code that the operating system gave an error; `undefined` for every other error. */
export function getSystemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error instanceof Deno.errors.NotFound) return "ENOENT";
  if (error instanceof Deno.errors.FilesystemLoop) return "ELOOP";
  return undefined;
}

/** The error as one whose words name the path and say what is wrong with it. */
export function toFileError(path: string, error: unknown): AgentError {
  if (AgentError.is(error)) return error;
  return new BadRequestError(`${quotePath(path)} ${describeError(error)}`, { cause: error });
}

/** A path as it stands in a message: quoted, so that blanks, newlines and escapes show. */
export function quotePath(path: string): string {
  return JSON.stringify(path);
}

function describeError(error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) {
    return `cannot be accessed: this program was started without that permission (${
      getErrorMessage(error)
    })`;
  }
  const code = getSystemErrorCode(error);
  return (code && ERROR_MESSAGES[code]) ?? `cannot be used: ${getErrorMessage(error)}`;
}
