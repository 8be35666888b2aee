/**
 * The part of a download, which one process at a time writes.
 *
 * @module
 */

import { AgentError, BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import type { SystemFile } from "../../platform/file_calls.ts";
import { lockFile } from "../../platform/file_lock.ts";
import { system } from "../../platform/system.ts";

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
    const lock = lockPart(path);
    if (!lock) throw new BadRequestError(`Another process is downloading ${path}; wait for it`);
    const file = await openFile(path).catch((error) => {
      lock[Symbol.dispose]();
      throw error;
    });
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
  try {
    await system.stat(path);
    using lock = lockFile(toLockPath(path));
    return lock === undefined;
  } catch {
    // A download could not write it either.
    return false;
  }
}

async function openFile(path: string): Promise<SystemFile> {
  try {
    return await system.open(path, { read: true, write: true, create: true });
  } catch (cause) {
    throw createWriteError(path, cause);
  }
}

function createWriteError(path: string, cause: unknown): BadRequestError {
  return new BadRequestError(`Cannot write ${path}: ${getErrorMessage(cause)}`, { cause });
}

async function isAt(file: SystemFile, path: string): Promise<boolean> {
  try {
    return file.statSync().ino === (await system.stat(path)).ino;
  } catch {
    return false;
  }
}

/**
 * Locks the file that a download or an import writes; `undefined` if it is locked. Only Deno can lock files, so that a second
 * file is the lock of all runtimes.
 *
 * @throws {BadRequestError} If the second file cannot be created.
 */
export function lockPart(path: string): Disposable | undefined {
  try {
    return lockFile(toLockPath(path));
  } catch (cause) {
    if (AgentError.is(cause)) throw cause;
    throw createWriteError(path, cause);
  }
}

function toLockPath(path: string): string {
  return `${path}.lock`;
}
