/**
 * The lock of a session's writer, for every store that other processes can open.
 *
 * The writer holds a lock of the operating system on a small file and updates that file's modification time
 * every few seconds. When its process ends, however it ends, the system releases the lock and the next writer
 * can acquire it at once. When the process still exists but has stopped or hangs, its heartbeat becomes stale
 * and the lock is taken over: a new file, already locked, replaces the old one. Before each write the old
 * writer checks that the lock file is still its own.
 *
 * @module
 */

import type { SessionOwner } from "../../core/errors.ts";
import { createLockedError, createLockLostError, toSessionError } from "../store/session_errors.ts";
import {
  decodeLockOwner,
  encodeLockOwner,
  HEARTBEAT_INTERVAL_MS,
  isKnownOwner,
  isStale,
} from "./lock_owner.ts";
import type { LockableFile, LockStorage } from "./lock_storage.ts";

/** Attempts to lock a file that another process removes or writes at the same time. */
const MAX_ATTEMPTS = 20;

/** Options for `withWriterLock()`. */
export interface WriterLockOptions {
  /** Where lock files are kept. */
  readonly storage: LockStorage;
  /** Directory of the lock files; created when it does not exist. */
  readonly directory: string;
  /** Id of the session. */
  readonly sessionId: string;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Name of the host, shown to other processes. */
  readonly name?: string | undefined;
}

/** Result of `acquireWriterLock()`. */
export type LockResult =
  | { readonly type: "held"; readonly lock: WriterLock }
  | { readonly type: "refused"; readonly owner?: SessionOwner };

/**
 * Calls `act` with the lock of a session, and releases the lock when `act` fails. When it succeeds, the lock
 * stays with what `act` returned.
 *
 * @throws {SessionError} With the reason `locked` when another writer holds the lock; every other failure that
 * is no session error has the reason `write_failed`.
 */
export async function withWriterLock<Value>(
  options: WriterLockOptions,
  act: (lock: WriterLock) => Promise<Value>,
): Promise<Value> {
  const { storage, directory, sessionId: id } = options;
  let lock: WriterLock | undefined;
  try {
    storage.makeDirectory(directory);
    const result = acquireWriterLock(options);
    if (result.type === "refused") throw createLockedError(id, result.owner);
    lock = result.lock;
    return await act(lock);
  } catch (error) {
    lock?.release();
    throw toSessionError(error, { id, reason: "write_failed" });
  }
}

/** Acquires the lock of a session, or returns its owner. The directory must exist. */
export function acquireWriterLock(options: WriterLockOptions): LockResult {
  const { storage, now } = options;
  const path = getLockPath(options);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const file = storage.openToLock(path);
    if (file.tryLock()) {
      if (isCurrentFile(storage, path, file)) {
        return { type: "held", lock: new WriterLock(file, options) };
      }
      file.close();
      continue;
    }
    const owner = readOwner(file);
    file.close();
    // Another process has just locked the file, or checks whether it is locked.
    if (!isKnownOwner(owner) && attempt < MAX_ATTEMPTS - 1) continue;
    const lock = isStale(owner.heartbeat, now()) ? takeOverLock(options) : undefined;
    return lock ? { type: "held", lock } : { type: "refused", owner };
  }
  return { type: "refused" };
}

/** Finds the owner of a lock; `undefined` when the lock is free. Removes the file of an owner that was killed. */
export function findLockOwner(storage: LockStorage, path: string): SessionOwner | undefined {
  if (!storage.stat(path)) return undefined;
  const file = storage.openToLock(path);
  try {
    if (!file.tryLock()) return readOwner(file);
    storage.remove(path);
    return undefined;
  } finally {
    file.close();
  }
}

/** Path of the lock file of a session. */
export function getLockPath(
  { directory, sessionId }: Pick<WriterLockOptions, "directory" | "sessionId">,
): string {
  return `${directory}/${sessionId}.lock`;
}

/** The right to write to a session, until it is released or taken over. */
export class WriterLock {
  readonly #file: LockableFile;
  readonly #options: WriterLockOptions;
  readonly #path: string;
  readonly #stopHeartbeat: () => void;
  #isReleased = false;

  /** Takes a file that is locked and at the lock's path; writes the owner record into it. */
  constructor(file: LockableFile, options: WriterLockOptions) {
    this.#file = file;
    this.#options = options;
    this.#path = getLockPath(options);
    const { name, now, storage } = options;
    file.write(
      encodeLockOwner({
        pid: storage.processId,
        ...(name !== undefined && { name }),
        since: now(),
      }),
    );
    this.#stopHeartbeat = storage.startInterval(HEARTBEAT_INTERVAL_MS, () => this.heartbeat());
    this.heartbeat();
  }

  /** Whether the lock has not been taken over. */
  isHeld(): boolean {
    return isCurrentFile(this.#options.storage, this.#path, this.#file);
  }

  /**
   * Checks that the lock has not been taken over.
   *
   * @throws {SessionError} With the reason `lock_lost` and the new owner, where it is known.
   */
  assertHeld(): void {
    if (this.isHeld()) return;
    const owner = findLockOwner(this.#options.storage, this.#path);
    throw createLockLostError(this.#options.sessionId, owner);
  }

  /** Updates the modification time of the lock file. */
  heartbeat(): void {
    try {
      this.#file.touch(this.#options.now());
    } catch {
      // The disk is gone or read-only; the next write reports it.
    }
  }

  /** Releases the lock. Does nothing the second time. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#stopHeartbeat();
    try {
      if (this.isHeld()) this.#options.storage.remove(this.#path);
    } catch {
      // The next writer finds the file unlocked.
    }
    this.#file.close();
  }
}

/** Replaces a stale lock file with a new, locked one; a second file ensures that one process at a time tries. */
function takeOverLock(options: WriterLockOptions): WriterLock | undefined {
  const { storage, now } = options;
  const path = getLockPath(options);
  const guardPath = `${path}.takeover`;
  const guard = storage.openToLock(guardPath);
  try {
    if (!guard.tryLock()) return undefined;
    const current = storage.stat(path);
    if (current && !isStale(current.modified, now())) return undefined;
    const newPath = `${path}.${storage.processId}`;
    const file = storage.openToLock(newPath);
    if (!file.tryLock()) {
      file.close();
      return undefined;
    }
    storage.rename(newPath, path);
    return new WriterLock(file, options);
  } finally {
    storage.remove(guardPath);
    guard.close();
  }
}

/** Whether an open file is the one at a path. */
function isCurrentFile(storage: LockStorage, path: string, file: LockableFile): boolean {
  const current = storage.stat(path);
  return current !== undefined && current.inode === file.stat().inode;
}

function readOwner(file: LockableFile): SessionOwner {
  return decodeLockOwner(file.read(), file.stat().modified);
}
