/**
 * Lock files on this machine.
 *
 * @module
 */

import { type FileStatus, SEEK_START, type SystemFile } from "../../platform/file_calls.ts";
import type { System } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import {
  createClaim,
  decodeLockFile,
  encodeLockFile,
  isClaimed,
  type LockClaim,
  type LockFileContent,
} from "./lock_claim.ts";
import type { LockableFile, LockFileInfo } from "./lock_storage.ts";

/** Maximum size of a lock file. */
const MAX_BYTES = 4_096;

/** Age above which the guard of a claim belongs to a process that was killed, in milliseconds. */
const MAX_GUARD_AGE_MS = 10_000;

/** Time after which a process does not use its guard any more: another one may remove it soon, in milliseconds. */
const GUARD_TIME_MS = MAX_GUARD_AGE_MS / 2;

/** An open file and its path. */
export interface OpenLockFile {
  /** Path at which the file was opened. */
  readonly path: string;
  /** The file, open for reading and writing. */
  readonly file: SystemFile;
}

/** Creates the lock of an open file: a lock of the operating system, or a claim where the runtime has none. */
export function createLocalLock(system: System, open: OpenLockFile): LockableFile {
  return open.file.tryLockSync ? new KernelLock(open.file) : new ClaimLock(system, open);
}

/** The operations that are the same for both kinds of lock. */
abstract class LocalLock implements LockableFile {
  readonly #file: SystemFile;

  constructor(file: SystemFile) {
    this.#file = file;
  }

  abstract tryLock(record: string): boolean;

  abstract isLocked(): boolean;

  read(): string {
    return this.readContent().record;
  }

  touch(time: number): void {
    this.#file.utimeSync(time / 1000, time / 1000);
  }

  stat(): LockFileInfo {
    const { mtime, ino }: FileStatus = this.#file.statSync();
    return { modified: mtime?.getTime() ?? 0, inode: ino };
  }

  close(): void {
    this.#file.close();
  }

  protected readContent(): LockFileContent {
    this.#file.seekSync(0, SEEK_START);
    const bytes = new Uint8Array(MAX_BYTES);
    const length = this.#file.readSync(bytes) ?? 0;
    return decodeLockFile(new TextDecoder().decode(bytes.subarray(0, length)));
  }

  protected writeContent(content: LockFileContent): void {
    const bytes = new TextEncoder().encode(encodeLockFile(content));
    this.#file.seekSync(0, SEEK_START);
    this.#file.writeSync(bytes);
    // Not before: another process would find an empty file, which no process has claimed.
    this.#file.truncateSync(bytes.length);
  }
}

/** A lock of the operating system. */
class KernelLock extends LocalLock {
  readonly #tryLock: () => boolean;

  constructor(file: SystemFile) {
    super(file);
    this.#tryLock = () => file.tryLockSync?.(true) ?? false;
  }

  tryLock(record: string): boolean {
    // A process that cannot lock files may have claimed the file.
    if (!this.#tryLock() || !this.isLocked()) return false;
    try {
      this.writeContent({ record });
    } catch (error) {
      // The record is for messages to other processes. On a full disk the lock is needed to delete a session.
      const code = getSystemErrorCode(error);
      if (code !== "ENOSPC" && code !== "EDQUOT") throw error;
    }
    return true;
  }

  isLocked(): boolean {
    // A process that cannot lock files may have claimed the file before it had the record.
    return this.readContent().claim === undefined;
  }
}

/** A claim in the file. A guard, a second file, ensures that only one process at a time reads and claims the file. */
class ClaimLock extends LocalLock {
  readonly #system: System;
  readonly #guardPath: string;
  readonly #claim: LockClaim;
  /** Whether this object has claimed the file, and not another one of this process. */
  #hasClaimed = false;
  /** When this process has created the guard, in milliseconds since the epoch. */
  #guardTime = 0;

  constructor(system: System, { path, file }: OpenLockFile) {
    super(file);
    this.#system = system;
    this.#guardPath = `${path}.guard`;
    this.#claim = createClaim(system.pid);
  }

  tryLock(record: string): boolean {
    if (!this.#createGuard()) return false;
    try {
      if (isClaimed(this.readContent(), this.#claim) || !this.#hasGuard()) return false;
      this.writeContent({ record, claim: this.#claim });
      this.#hasClaimed = true;
      return true;
    } finally {
      this.#removeGuard();
    }
  }

  override close(): void {
    try {
      // The file may still be at its path.
      if (this.#hasClaimed && this.isLocked()) this.writeContent({ record: "" });
    } catch {
      // The claim ends with this process.
    }
    super.close();
  }

  isLocked(): boolean {
    const { claim } = this.readContent();
    return claim?.pid === this.#claim.pid && claim.started === this.#claim.started;
  }

  /** Whether the guard is still that of this process: another one removes it if this process is suspended for long. */
  #hasGuard(): boolean {
    return Date.now() - this.#guardTime < GUARD_TIME_MS;
  }

  #removeGuard(): void {
    if (!this.#hasGuard()) return; // It may be that of another process by now; otherwise, the next one removes it.
    try {
      this.#system.removeSync(this.#guardPath);
    } catch (error) {
      // The clock of the disk may be another one.
      if (getSystemErrorCode(error) !== "ENOENT") throw error;
    }
  }

  #createGuard(): boolean {
    const time = Date.now();
    try {
      this.#system.openSync(this.#guardPath, { write: true, createNew: true }).close();
      this.#guardTime = time;
      return true;
    } catch (error) {
      if (getSystemErrorCode(error) !== "EEXIST") throw error;
      this.#removeOldGuard();
      return false;
    }
  }

  #removeOldGuard(): void {
    try {
      const { mtime } = this.#system.statSync(this.#guardPath);
      const age = Date.now() - (mtime?.getTime() ?? 0);
      if (age > MAX_GUARD_AGE_MS) this.#system.removeSync(this.#guardPath);
    } catch {
      // Another process has removed it.
    }
  }
}
