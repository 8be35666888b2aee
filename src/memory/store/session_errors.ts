/**
 * What the system says when a session cannot be reached, in words that say what to do.
 *
 * @module
 */

import { AgentError, getErrorMessage, SessionError, type SessionOwner } from "../../core/errors.ts";

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full: free some space",
  EDQUOT: "the disk quota is used up: free some space",
  EROFS: "the disk is read-only",
  EACCES: "permission was denied: check who may write to the folder",
  EPERM: "permission was denied: check who may write to the folder",
  EMFILE: "too many files are open",
  EIO: "the disk reports an error",
};

/** The words of a failure of the system. */
export function describeSystemError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const advice = ADVICE[code];
  return advice === undefined ? getErrorMessage(error) : `${advice} (${getErrorMessage(error)})`;
}

/** A failure while reading or writing a session; a session error stays what it is. */
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

/** There is no such session. */
export function createNotFoundError(id: string): SessionError {
  return new SessionError(`There is no session "${id}"`, { reason: "not_found" });
}

/** There is such a session already. */
export function createAlreadyExistsError(id: string): SessionError {
  return new SessionError(`There is a session "${id}" already: open it, or take another name`, {
    reason: "already_exists",
  });
}

/** Somebody else is writing to the session. */
export function createLockedError(id: string, owner: SessionOwner | undefined): SessionError {
  const message = `The session "${id}" is open in ${describeOwner(owner)}: close it there, ` +
    `open it for reading only, or fork it`;
  return new SessionError(message, { reason: "locked", owner });
}

/** Somebody else has taken the session over. */
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
  const who = name === undefined ? `process ${pid}` : `${name} (process ${pid})`;
  return `${who} since ${new Date(since).toISOString()}`;
}
