/**
 * The lock of a session's writer, for every store that other processes can open.
 *
 * The writer holds a lock of the operating system on a small file and updates that file's modification time
 * every few seconds. When its process ends, however it ends, the system releases the lock and the next writer can
 * acquire it immediately. If the process still exists but is suspended or hangs, its heartbeat becomes stale and the
 * lock is taken over: a new file, already locked, replaces the old one. Before each write the old writer checks that
 * the lock file is still its own.
 *
 * The clocks of two processes may differ, and a clock jumps when a computer wakes up. A lock that looks stale is therefore
 * taken over only if it has no heartbeat for longer than the interval of heartbeats.
 *
 * @module
 */

import type { SessionOwner } from "../../core/errors/errors.ts";
import { SharedInterval } from "../storage/shared_interval.ts";
import { encodeFileName } from "../store/file_name.ts";
import { createLockedError, createLockLostError, toSessionError } from "../store/session_errors.ts";
import {
  decodeLockOwner,
  encodeLockOwner,
  HEARTBEAT_INTERVAL_MS,
  isKnownOwner,
  isStale,
} from "./lock_owner.ts";
import type { LockableFile, LockStorage } from "./lock_storage.ts";

/** Time in which the writer of a lock that looks stale has a heartbeat if it is alive, in milliseconds. */
const OBSERVATION_MS = HEARTBEAT_INTERVAL_MS + 1_000;

/** Maximum number of attempts to lock a file that another process removes or writes at the same time. */
const MAX_ATTEMPTS = 20;

/** The record of a process that locks a file for a moment. */
const NO_RECORD = "";

/** Options for `withWriterLock()`. */
export interface WriterLockOptions {
  /** The storage of the lock file. */
  readonly storage: LockStorage;
  /** Directory of the lock file; created if it does not exist. */
  readonly directory: string;
  /** Id of the session. */
  readonly sessionId: string;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Name of the host, shown to other processes. */
  readonly name?: string | undefined;
  /** Updates the modification times of the store's lock files. */
  readonly heartbeats: SharedInterval;
}

/** Creates the timer for the heartbeats of all locks of a store. */
export function createHeartbeats(): SharedInterval {
  return new SharedInterval(HEARTBEAT_INTERVAL_MS);
}

/** Result of `acquireWriterLock()`. */
export type LockResult =
  | { readonly type: "held"; readonly lock: WriterLock }
  | { readonly type: "refused"; readonly owner?: SessionOwner };

/**
 * Acquires the lock of a session and calls `act` with it. If `act` rejects, the lock is released; otherwise the result
 * of `act` owns it and must release it.
 *
 * @throws {SessionError} With the reason `locked` if another writer holds the lock; an error that is not a session
 * error becomes one with the reason `write_failed`.
 */
export async function withWriterLock<Value>(
  options: WriterLockOptions,
  act: (lock: WriterLock) => Promise<Value>,
): Promise<Value> {
  const { storage, directory, sessionId: id } = options;
  let lock: WriterLock | undefined;
  try {
    storage.makeDirectory(directory);
    const result = await acquireWriterLock(options);
    if (result.type === "refused") throw createLockedError(id, result.owner);
    lock = result.lock;
    return await act(lock);
  } catch (error) {
    lock?.release();
    throw toSessionError(error, { id, reason: "write_failed" });
  }
}

/** Acquires the lock of a session, or returns its current owner. The directory must exist. */
export async function acquireWriterLock(options: WriterLockOptions): Promise<LockResult> {
  const { storage, now } = options;
  const path = getLockPath(options);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const file = storage.openToLock(path);
    if (tryLock(file, encodeOwner(options))) {
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
    const isAbandoned = isStale(owner.heartbeat, now()) &&
      !await hasHeartbeat(storage, path, owner);
    const lock = isAbandoned ? takeOverLock(options, owner) : undefined;
    return lock ? { type: "held", lock } : { type: "refused", owner };
  }
  return { type: "refused" };
}

/** Locks a file; closes it if that fails, as where its content is written to a full disk. */
function tryLock(file: LockableFile, record: string): boolean {
  try {
    return file.tryLock(record);
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Encodes the record of this process. */
function encodeOwner({ storage, now, name }: WriterLockOptions): string {
  return encodeLockOwner({
    pid: storage.processId,
    ...(name !== undefined && { name }),
    since: now(),
  });
}

/** Finds the owner of a lock; `undefined` if the lock is free. Removes the lock file of an owner that was killed. */
export function findLockOwner(storage: LockStorage, path: string): SessionOwner | undefined {
  if (!storage.stat(path)) return undefined;
  const file = storage.openToLock(path);
  try {
    if (!file.tryLock(NO_RECORD)) return readOwner(file);
    // A file that its owner has removed meanwhile is not the one at the path, which the next one may have locked.
    if (isCurrentFile(storage, path, file)) storage.remove(path);
    return undefined;
  } finally {
    file.close();
  }
}

/** Returns the path of the lock file of a session. */
export function getLockPath(
  { directory, sessionId }: Pick<WriterLockOptions, "directory" | "sessionId">,
): string {
  return `${directory}/${encodeFileName(sessionId)}.lock`;
}

/** The lock of a session's writer, until it is released or taken over. */
export class WriterLock {
  readonly #file: LockableFile;
  readonly #options: WriterLockOptions;
  readonly #path: string;
  readonly #stopHeartbeat: () => void;
  #isReleased = false;

  /** Creates the lock from a locked file at the lock's path; starts the heartbeat. */
  constructor(file: LockableFile, options: WriterLockOptions) {
    this.#file = file;
    this.#options = options;
    this.#path = getLockPath(options);
    this.#stopHeartbeat = options.heartbeats.add(() => this.heartbeat());
    this.heartbeat();
  }

  /** Whether the lock has not been taken over. */
  isHeld(): boolean {
    return isCurrentFile(this.#options.storage, this.#path, this.#file) && this.#file.isLocked();
  }

  /**
   * Checks that the lock has not been taken over.
   *
   * @throws {SessionError} With the reason `lock_lost` and the new owner, if it is known.
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

  /** Releases the lock; a second call has no effect. */
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

/** Whether the owner of a lock is alive: its lock file is updated or removed while it is observed. */
async function hasHeartbeat(
  storage: LockStorage,
  path: string,
  { heartbeat }: SessionOwner,
): Promise<boolean> {
  await storage.wait(OBSERVATION_MS);
  return storage.stat(path)?.modified !== heartbeat;
}

/** Takes over a stale lock. A second lock ensures that only one process at a time does so. */
function takeOverLock(options: WriterLockOptions, owner: SessionOwner): WriterLock | undefined {
  const { storage } = options;
  const guardPath = `${getLockPath(options)}.takeover`;
  const guard = storage.openToLock(guardPath);
  let isGuarded = false;
  try {
    isGuarded = guard.tryLock(NO_RECORD) && isCurrentFile(storage, guardPath, guard);
    return isGuarded ? replaceLock(options, owner) : undefined;
  } finally {
    if (isGuarded) storage.remove(guardPath);
    guard.close();
  }
}

/** Replaces a stale lock file with a new, locked one. */
function replaceLock(
  options: WriterLockOptions,
  { heartbeat }: SessionOwner,
): WriterLock | undefined {
  const { storage } = options;
  const path = getLockPath(options);
  if (storage.stat(path)?.modified !== heartbeat) return undefined;
  const newPath = `${path}.${storage.processId}`;
  const file = storage.openToLock(newPath);
  if (!tryLock(file, encodeOwner(options))) {
    file.close();
    return undefined;
  }
  storage.rename(newPath, path);
  return new WriterLock(file, options);
}

/** Whether an open file is the one at a path. */
function isCurrentFile(storage: LockStorage, path: string, file: LockableFile): boolean {
  const current = storage.stat(path);
  return current !== undefined && current.inode === file.stat().inode;
}

function readOwner(file: LockableFile): SessionOwner {
  return decodeLockOwner(file.read(), file.stat().modified);
}
