/**
 * Errors of session stores.
 *
 * @module
 */

import { getErrorMessage, SessionError, type SessionOwner } from "../../core/errors/errors.ts";
import { isInstance } from "../../core/errors/is_instance.ts";
import { formatTime } from "./format_time.ts";

/** Causes, with advice if there is any, by error code of the system. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full: free some space",
  EDQUOT: "the disk quota is exceeded: free some space",
  EROFS: "the file system is read-only",
  EACCES: "permission denied: check the permissions of the file and its directory",
  EPERM: "permission denied: check the permissions of the file and its directory",
  EISDIR: "it is a directory: move it to another place",
  ELOOP: "it is a symbolic link that leads to itself",
  EMFILE: "too many open files",
  EIO: "input/output error of the disk",
};

/** Describes an error of the system; a known error code adds its cause and advice. */
function describeSystemError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const advice = ADVICE[code];
  return advice === undefined ? getErrorMessage(error) : `${advice} (${getErrorMessage(error)})`;
}

/** Converts an error of reading or writing a session, or all of a store; a session error is returned unchanged. */
export function toSessionError(
  error: unknown,
  { id, reason, note = "" }: {
    readonly id: string | undefined;
    readonly reason: "read_failed" | "write_failed";
    readonly note?: string;
  },
): SessionError {
  if (isInstance(error, SessionError)) return error;
  const verb = reason === "read_failed" ? "read" : "write";
  const subject = id === undefined ? "sessions" : `session "${id}"`;
  const message = `Cannot ${verb} the ${subject}: ${describeSystemError(error)}${note}`;
  return new SessionError(message, { reason, cause: error });
}

/** Creates the error for a session that does not exist. */
export function createNotFoundError(id: string): SessionError {
  return new SessionError(`The session "${id}" does not exist`, { reason: "not_found" });
}

/** Creates the error for a session that already exists. */
export function createAlreadyExistsError(
  id: string,
  advice = "open it, or use another id",
): SessionError {
  return new SessionError(`Cannot create the session "${id}": it already exists: ${advice}`, {
    reason: "already_exists",
  });
}

/** Creates the error for a session that another writer has open. */
export function createLockedError(id: string, owner: SessionOwner | undefined): SessionError {
  const message = `The session "${id}" is open in ${describeOwner(owner)}: close it there, ` +
    `open it for reading only, or fork it`;
  return new SessionError(message, { reason: "locked", owner });
}

/** Creates the error for a session whose writer has lost its lock, to another one if `owner` is known. */
export function createLockLostError(id: string, owner: SessionOwner | undefined): SessionError {
  const cause = owner
    ? `was taken over by ${describeOwner(owner)} while this process was not responding`
    : "is no longer locked by this process: its lock was deleted or taken over";
  return new SessionError(`The session "${id}" ${cause}: open it again, or fork it`, {
    reason: "lock_lost",
    owner,
  });
}

/** Creates the error for a log that another program has changed while it was open for writing. */
export function createLogChangedError(
  id: string,
  { path, change }: { readonly path: string; readonly change: "deleted" | "replaced" | "changed" },
): SessionError {
  return new SessionError(
    `Cannot write the session "${id}": another program has ${change} its file "${path}" while it was open: ` +
      "entries since the last flush are not in the file: open the session again",
    { reason: "write_failed" },
  );
}

function describeOwner(owner: SessionOwner | undefined): string {
  const { pid = 0, name = "", since = 0 } = owner ?? {};
  if (pid === 0) return name || "another process";
  const owningProcess = name === "" ? `process ${pid}` : `${name} (process ${pid})`;
  return `${owningProcess} since ${formatTime(since)}`;
}
