/**
 * One writer at a time.
 *
 * The writer holds a lock of the operating system on a small file beside the log, and touches that file every
 * few seconds. When its process ends, however it ends, the system lets go of the lock and the next writer has
 * it at once. When the process is there but gives no sign of life, because it was stopped or hangs, the lock
 * is taken over: a new file, already locked, is put in place of the old one. The old writer finds that the
 * file is no longer its own before it writes again.
 *
 * @module
 */

import type { SessionOwner } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json.ts";
import type { FileSystem, LockableFile } from "./file_system.ts";

/** How often a writer gives a sign of life, in milliseconds. */
const HEARTBEAT_MS = 5_000;
/** How long a writer may be silent before its lock is taken over, in milliseconds. */
const STALE_MS = 30_000;
/** How often a lock file may vanish while it is being locked. */
const MAX_ATTEMPTS = 20;

/** Where a lock lives, and who asks for it. */
export interface WriterLockOptions {
  /** The disk. */
  readonly files: FileSystem;
  /** The lock file. */
  readonly path: string;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** What the host calls itself. */
  readonly name?: string | undefined;
}

/** The answer to who may write. */
export type LockResult =
  | { readonly type: "held"; readonly lock: WriterLock }
  | { readonly type: "refused"; readonly owner?: SessionOwner };

/** Asks to be the one writer. */
export function acquireWriterLock(options: WriterLockOptions): LockResult {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const file = options.files.openToLock(options.path);
    if (file.tryLock()) {
      if (isCurrentFile(file, options)) {
        return { type: "held", lock: new WriterLock(file, options) };
      }
      file.close();
      continue;
    }
    const owner = getOwner(file);
    file.close();
    // Somebody is just locking it, or looking whether it is locked.
    if (owner.pid === 0 && attempt < MAX_ATTEMPTS - 1) continue;
    if (options.now() - owner.heartbeat <= STALE_MS) return createRefusal(owner);
    const taken = takeOverLock(options);
    return taken ? { type: "held", lock: taken } : createRefusal(owner);
  }
  return { type: "refused" };
}

/** Tells who writes, without asking to; `undefined` when nobody does. */
export function findLockOwner(files: FileSystem, path: string): SessionOwner | undefined {
  if (!files.stat(path)) return undefined;
  const file = files.openToLock(path);
  try {
    if (!file.tryLock()) return getOwner(file);
    // Left behind by a process that was killed.
    files.remove(path);
    return undefined;
  } finally {
    file.close();
  }
}

/** The right to write, until it is released or taken over. */
export class WriterLock {
  readonly #file: LockableFile;
  readonly #options: WriterLockOptions;
  readonly #stopHeartbeat: () => void;
  #isReleased = false;

  /** Takes a file that is locked and in place. */
  constructor(file: LockableFile, options: WriterLockOptions) {
    this.#file = file;
    this.#options = options;
    const { name, now, files } = options;
    file.write(JSON.stringify({ pid: files.processId, name, since: now() }));
    this.#stopHeartbeat = files.startInterval(HEARTBEAT_MS, () => this.heartbeat());
    this.heartbeat();
  }

  /** Whether nobody has taken over. */
  isHeld(): boolean {
    return isCurrentFile(this.#file, this.#options);
  }

  /** Who has taken over, where that is known. */
  currentOwner(): SessionOwner | undefined {
    return findLockOwner(this.#options.files, this.#options.path);
  }

  /** Gives a sign of life. */
  heartbeat(): void {
    try {
      this.#file.touch(this.#options.now());
    } catch {
      // The disk is gone or read-only; the next write says so.
    }
  }

  /** Lets others write. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#stopHeartbeat();
    try {
      if (this.isHeld()) this.#options.files.remove(this.#options.path);
    } catch {
      // Left behind; the next writer finds it unlocked.
    }
    this.#file.close();
  }
}

/** Puts a new, locked file in place of a stale one; only one process at a time tries. */
function takeOverLock(options: WriterLockOptions): WriterLock | undefined {
  const { files, path, now } = options;
  const guardPath = `${path}.takeover`;
  const guard = files.openToLock(guardPath);
  try {
    if (!guard.tryLock()) return undefined;
    const current = files.stat(path);
    if (current && now() - current.modified <= STALE_MS) return undefined;
    const fresh = `${path}.${files.processId}`;
    const file = files.openToLock(fresh);
    if (!file.tryLock()) {
      file.close();
      return undefined;
    }
    files.rename(fresh, path);
    return new WriterLock(file, options);
  } finally {
    files.remove(guardPath);
    guard.close();
  }
}

/** Whether the path still leads to this file. */
function isCurrentFile(file: LockableFile, { files, path }: WriterLockOptions): boolean {
  const there = files.stat(path);
  return there !== undefined && there.inode === file.stat().inode;
}

function createRefusal(owner: SessionOwner): LockResult {
  return { type: "refused", owner };
}

function getOwner(file: LockableFile): SessionOwner {
  const heartbeat = file.stat().modified;
  const { pid = 0, name, since = heartbeat } = parseOwner(file.read());
  return { pid, ...(name !== undefined && { name }), since, heartbeat };
}

function parseOwner(text: string): { pid?: number; name?: string; since?: number } {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return {};
    const { pid, name, since } = value;
    return {
      ...(typeof pid === "number" && { pid }),
      ...(typeof name === "string" && { name }),
      ...(typeof since === "number" && { since }),
    };
  } catch {
    return {}; // the owner is just writing it
  }
}
