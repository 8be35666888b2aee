/**
 * Lock files for runtimes that cannot lock files.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../core/errors/errors.ts";
import { isJsonObject } from "../core/json/json.ts";
import type { SystemFile } from "./file_calls.ts";
import { getProcessStart, isProcessRunning } from "./node_processes.ts";
import { system } from "./system.ts";
import { getSystemErrorCode } from "./system_error.ts";

/** The process that has created a lock. */
interface LockOwner {
  readonly pid: number;
  /** Start of the process, in milliseconds since the epoch; another process may have the same id later. */
  readonly started: number;
  /** Start of the process as the kernel of Linux counts it, which does not depend on the clock; unknown elsewhere. */
  readonly ticks?: string | undefined;
  /** Whether the process has locked the file, so that the lock ends with it. Default: `false`. */
  readonly isLocked?: boolean;
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
  if (!create(path) && !(removeOld(path) && create(path))) return undefined;
  let isHeld = true;
  return {
    [Symbol.dispose]: () => {
      // A second release would be that of the next owner.
      if (isHeld) remove(path);
      isHeld = false;
    },
  };
}

/** Whether another process, which cannot lock files, has claimed a file that this process has locked. */
export function isClaimed(path: string): boolean {
  const owner = read(path);
  return owner !== undefined && !owner.isLocked && isRunning(owner);
}

/** Writes this process as the owner of a lock into its file. */
export function writeOwner(
  file: SystemFile,
  options: Pick<LockOwner, "isLocked" | "ticks"> = {},
): void {
  const owner: LockOwner = { pid: system.pid, started: getProcessStart(), ...options };
  file.truncateSync();
  file.writeSync(new TextEncoder().encode(JSON.stringify(owner)));
}

function create(path: string): boolean {
  let isCreated = false;
  try {
    using file = system.openSync(path, { write: true, createNew: true, mode: 0o600 });
    isCreated = true;
    writeOwner(file, { ticks: readTicks(system.pid) });
    return true;
  } catch (error) {
    if (!isCreated && getSystemErrorCode(error) === "EEXIST") return false;
    // As on a full disk; a lock without an owner would be that of another process for some seconds.
    if (isCreated) remove(path);
    throw new BadRequestError(`Cannot write ${path}: ${getErrorMessage(error)}`, { cause: error });
  }
}

/** Removes the lock of a process that has ended; returns whether it was one. */
function removeOld(path: string): boolean {
  if (!isOld(path)) return false;
  // Of several processes one removes it: another one would remove the lock that the first has then created.
  const removal = `${path}.old`;
  if (!create(removal) && !(isOld(removal) && remove(removal) && create(removal))) return false;
  try {
    return isOld(path) && remove(path);
  } finally {
    remove(removal);
  }
}

function isOld(path: string): boolean {
  const owner = read(path);
  return owner ? !isRunning(owner) : !isNew(path);
}

function isRunning({ pid, started, ticks }: LockOwner): boolean {
  const current = ticks === undefined ? undefined : readTicks(pid);
  // Another process can have the id of one that was killed.
  if (current !== undefined) return current === ticks;
  return pid === system.pid
    ? Math.abs(started - getProcessStart()) < START_TOLERANCE_MS
    : isProcessRunning(pid);
}

/** Returns the start of a process, in ticks since the start of the system; `undefined` if it is unknown. */
function readTicks(pid: number): string | undefined {
  try {
    const status = new TextDecoder().decode(system.readFileSync(`/proc/${pid}/stat`));
    // The second field is the name of the program in parentheses, which can contain spaces; the start is the 22nd one.
    return status.slice(status.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

function read(path: string): LockOwner | undefined {
  try {
    const value: unknown = JSON.parse(system.readTextFileSync(path));
    if (!isJsonObject(value)) return undefined;
    const { pid, started, ticks, isLocked } = value;
    // A signal to the process 0 reaches all of a group.
    if (typeof pid !== "number" || pid <= 0 || typeof started !== "number") return undefined;
    return {
      pid,
      started,
      ticks: typeof ticks === "string" ? ticks : undefined,
      isLocked: isLocked === true,
    };
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

/** Removes a file; returns whether it does not exist any more. */
function remove(path: string): boolean {
  try {
    system.removeSync(path);
    return true;
  } catch (error) {
    return getSystemErrorCode(error) === "ENOENT";
  }
}
