/**
 * Errors of session stores.
 *
 * @module
 */

import { AgentError, getErrorMessage, SessionError, type SessionOwner } from "../../core/errors.ts";

/** Causes, with advice if there is any, by error code of the system. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full: free some space",
  EDQUOT: "the disk quota is exceeded: free some space",
  EROFS: "the file system is read-only",
  EACCES: "permission denied: check the permissions of the directory",
  EPERM: "permission denied: check the permissions of the directory",
  EMFILE: "too many open files",
  EIO: "input/output error of the disk",
};

/** Describes an error of the system; a known error code adds its cause and advice. */
export function describeSystemError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const advice = ADVICE[code];
  return advice === undefined ? getErrorMessage(error) : `${advice} (${getErrorMessage(error)})`;
}

/** Converts an error of reading or writing a session; a session error is returned unchanged. */
export function toSessionError(
  error: unknown,
  { id, reason, note = "" }: {
    readonly id: string;
    readonly reason: "read_failed" | "write_failed";
    readonly note?: string;
  },
): SessionError {
  if (AgentError.is(error) && error instanceof SessionError) return error;
  const verb = reason === "read_failed" ? "read" : "write";
  const message = `Cannot ${verb} the session "${id}": ${describeSystemError(error)}${note}`;
  return new SessionError(message, { reason, cause: error });
}

/** Creates the error for a session that does not exist. */
export function createNotFoundError(id: string): SessionError {
  return new SessionError(`The session "${id}" does not exist`, { reason: "not_found" });
}

/** Creates the error for a session that already exists. */
export function createAlreadyExistsError(id: string): SessionError {
  return new SessionError(
    `Cannot create the session "${id}": it already exists: open it, or use another id`,
    { reason: "already_exists" },
  );
}

/** Creates the error for a session that another writer has open. */
export function createLockedError(id: string, owner: SessionOwner | undefined): SessionError {
  const message = `The session "${id}" is open in ${describeOwner(owner)}: close it there, ` +
    `open it for reading only, or fork it`;
  return new SessionError(message, { reason: "locked", owner });
}

/** Creates the error for a session whose lock another process has taken over. */
export function createLockLostError(id: string, owner: SessionOwner | undefined): SessionError {
  return new SessionError(
    `The session "${id}" was taken over by another process while this one was not responding: ` +
      `open it again, or fork it`,
    { reason: "lock_lost", owner },
  );
}

function describeOwner(owner: SessionOwner | undefined): string {
  if (!owner) return "another process";
  const { pid, name, since } = owner;
  const owningProcess = name === undefined ? `process ${pid}` : `${name} (process ${pid})`;
  return `${owningProcess} since ${new Date(since).toISOString()}`;
}
