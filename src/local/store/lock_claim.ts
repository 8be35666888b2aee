/**
 * Lock files for runtimes that cannot lock files.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json.ts";
import { getProcessStart, isProcessRunning } from "../../platform/node_processes.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";

/** The process that has created a lock. */
interface LockOwner {
  readonly pid: number;
  /** Start of the process, in milliseconds since the epoch; another process may have the same id later. */
  readonly started: number;
}

/** Maximum difference between two calculations of the start of a process, in milliseconds. */
const START_TOLERANCE_MS = 2_000;
/** Age of a lock without an owner above which its process was killed, in milliseconds. */
const MAX_EMPTY_AGE_MS = 10_000;

/**
 * Creates a lock file for this process, which disposing removes; `undefined` if another process has it. That of a process
 * that was killed is replaced.
 *
 * @throws {BadRequestError} If the file cannot be created.
 */
export function claimLock(path: string): Disposable | undefined {
  const owner: LockOwner = { pid: system.pid, started: getProcessStart() };
  if (!create(path, owner) && !(removeOld(path, owner) && create(path, owner))) return undefined;
  return { [Symbol.dispose]: () => remove(path) };
}

function create(path: string, owner: LockOwner): boolean {
  try {
    using file = system.openSync(path, { write: true, createNew: true });
    file.writeSync(new TextEncoder().encode(JSON.stringify(owner)));
    return true;
  } catch (error) {
    if (getSystemErrorCode(error) === "EEXIST") return false;
    throw new BadRequestError(`Cannot write ${path}: ${getErrorMessage(error)}`, { cause: error });
  }
}

/** Removes the lock of a process that has ended; returns whether it was one. */
function removeOld(path: string, own: LockOwner): boolean {
  const owner = read(path);
  if (owner ? isRunning(owner, own) : isNew(path)) return false;
  remove(path);
  return true;
}

function isRunning(owner: LockOwner, own: LockOwner): boolean {
  return owner.pid === own.pid
    ? Math.abs(owner.started - own.started) < START_TOLERANCE_MS
    : isProcessRunning(owner.pid);
}

function read(path: string): LockOwner | undefined {
  try {
    const value: unknown = JSON.parse(system.readTextFileSync(path));
    if (!isJsonObject(value)) return undefined;
    const { pid, started } = value;
    return typeof pid === "number" && typeof started === "number" ? { pid, started } : undefined;
  } catch {
    return undefined;
  }
}

function isNew(path: string): boolean {
  try {
    const { mtime } = system.statSync(path);
    return Date.now() - (mtime?.getTime() ?? 0) < MAX_EMPTY_AGE_MS;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    system.removeSync(path);
  } catch {
    // It was removed already.
  }
}
