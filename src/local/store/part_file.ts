/**
 * The part of a download, which one process at a time writes.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors.ts";
import type { SystemFile } from "../../platform/file_calls.ts";
import { system } from "../../platform/system.ts";
import { claimLock } from "../../platform/lock_claim.ts";

/** An open part. Disposing of it lets other processes continue it. */
export interface PartFile extends Disposable {
  readonly file: SystemFile;
  /** Whether its path names it. Another process may have removed it, and may have begun another one. */
  isInPlace(): Promise<boolean>;
}

/** Most attempts to open a part that another process completes or gives up at the same time. */
const MAX_ATTEMPTS = 5;

/**
 * Opens a part for one download at a time.
 *
 * @throws {BadRequestError} If it cannot be written, or another process writes it.
 */
export async function openPart(path: string): Promise<PartFile> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const file = await openFile(path);
    const lock = lockPart(file, path);
    if (!lock) {
      file.close();
      throw new BadRequestError(`Another process is downloading ${path}; wait for it`);
    }
    const close = () => {
      file.close();
      lock[Symbol.dispose]();
    };
    const isInPlace = () => isAt(file, path);
    if (await isInPlace()) return { file, isInPlace, [Symbol.dispose]: close };
    // Its download was completed after it was opened.
    close();
  }
  throw new BadRequestError(`Other processes are downloading ${path}; wait for them`);
}

/** Whether a download writes a part. */
export async function isPartInUse(path: string): Promise<boolean> {
  let file: SystemFile;
  try {
    file = await system.open(path, { read: true, write: true });
  } catch {
    // A download could not open it either.
    return false;
  }
  const lock = lockPart(file, path);
  file.close();
  lock?.[Symbol.dispose]();
  return lock === undefined;
}

async function openFile(path: string): Promise<SystemFile> {
  try {
    return await system.open(path, { read: true, write: true, create: true });
  } catch (cause) {
    throw new BadRequestError(`Cannot write ${path}: ${getErrorMessage(cause)}`, { cause });
  }
}

async function isAt(file: SystemFile, path: string): Promise<boolean> {
  try {
    return file.statSync().ino === (await system.stat(path)).ino;
  } catch {
    return false;
  }
}

/** Locks a part; `undefined` if it is locked. Only Deno can lock files, so that a second file is the lock elsewhere. */
function lockPart(file: SystemFile, path: string): Disposable | undefined {
  if (!file.tryLockSync) return claimLock(`${path}.lock`);
  return file.tryLockSync(true) ? { [Symbol.dispose]: () => {} } : undefined;
}
