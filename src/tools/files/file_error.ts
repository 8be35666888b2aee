/**
 * Errors of the file system as messages that a model can act on.
 *
 * @module
 */

import { AgentError, BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { getSystemErrorCode, isMissingPermission } from "../../platform/system_error.ts";

const ERROR_MESSAGES: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "cannot be accessed: permission denied by the operating system",
  EPERM: "cannot be changed: not permitted by the operating system",
  EISDIR: "is a directory, not a file",
  ENOTDIR: "has a file where a directory should be",
  ELOOP: "is a loop of symbolic links",
  ENAMETOOLONG: "has a name that is too long",
  ENOSPC: "cannot be written: the disk is full",
  EDQUOT: "cannot be written: the disk quota is used up",
  EROFS: "cannot be written: the file system is read-only",
  EBUSY: "is in use by another program",
  ETXTBSY: "is the file of a running program",
  EEXIST: "already exists",
  ENOTEMPTY: "is a directory that is not empty",
  EMFILE: "cannot be opened: too many files are open",
  ENFILE: "cannot be opened: too many files are open on this machine",
  ENXIO: "is a device, pipe or socket without a peer",
  EIO: "cannot be read: the disk reports an error",
  ESTALE: "is on a network disk that is no longer available",
  EFBIG: "is larger than the file system allows",
};

/** Converts any error to one whose message names the path; an `AgentError` is returned unchanged. */
export function toFileError(path: string, error: unknown): AgentError {
  if (AgentError.is(error)) return error;
  return new BadRequestError(`${quotePath(path)} ${describeError(error)}`, { cause: error });
}

/** Quotes a path for a message, so that spaces, newlines and escape sequences are visible. */
export function quotePath(path: string): string {
  return JSON.stringify(path);
}

function describeError(error: unknown): string {
  if (isMissingPermission(error)) {
    return `cannot be accessed: this program runs without that permission (${
      getErrorMessage(error)
    })`;
  }
  const code = getSystemErrorCode(error);
  return (code && ERROR_MESSAGES[code]) ?? `cannot be used: ${getErrorMessage(error)}`;
}
