/**
 * Locks by files that exist while they are held.
 *
 * @module
 */

import type { SystemFile } from "./file_calls.ts";
import { claimLock, isClaimed, writeOwner } from "./lock_claim.ts";
import { isDeno, system } from "./system.ts";

/** Most attempts to lock a file whose holder removes it at the same time. */
const MAX_ATTEMPTS = 5;

/**
 * Locks a path until the lock is disposed of or the process ends; `undefined` if it is locked. The file is created, and
 * removed with the lock. Only Deno can lock files; elsewhere, the file names the process that has the lock.
 *
 * @throws {Error} If the file cannot be created.
 */
export function lockFile(path: string): Disposable | undefined {
  if (!isDeno) return claimLock(path);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const file = system.openSync(path, { read: true, write: true, create: true, mode: 0o600 });
    if (!file.tryLockSync?.(true) || isClaimed(path)) {
      file.close();
      return undefined;
    }
    if (isAt(file, path)) {
      const lock = toLock(file, path);
      try {
        writeOwner(file, { isLocked: true });
        return lock;
      } catch (error) {
        // As on a full disk; the file would be locked until the end of the process.
        lock[Symbol.dispose]();
        throw error;
      }
    }
    // Its holder has removed it after it was opened.
    file.close();
  }
  return undefined;
}

function isAt(file: SystemFile, path: string): boolean {
  try {
    return file.statSync().ino === system.statSync(path).ino;
  } catch {
    return false;
  }
}

function toLock(file: SystemFile, path: string): Disposable {
  let isHeld = true;
  return {
    [Symbol.dispose]: () => {
      if (!isHeld) return;
      isHeld = false;
      try {
        // While the file is locked, so that no other process has locked it.
        if (isAt(file, path)) system.removeSync(path);
      } catch {
        // The next process locks the file that is left.
      }
      file.close();
    },
  };
}
