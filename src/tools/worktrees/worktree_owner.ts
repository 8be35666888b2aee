/**
 * The process that uses a worktree, as the reason of the lock that git keeps for it.
 *
 * @module
 */

import { getProcessStart, isProcessRunning } from "../../platform/node_processes.ts";
import { system } from "../../platform/system.ts";

/** The process that uses a worktree. */
export interface WorktreeOwner {
  /** Process id. */
  readonly pid: number;
  /** Start of the process, in milliseconds since the epoch. In containers, the next process often has the same id. */
  readonly started: number;
  /** The machine and the namespace in which the process id is valid; empty if they are unknown. */
  readonly place: string;
  /** The commit that the worktree began with. */
  readonly base: string;
}

/** Whether the process of an owner runs; `unknown` on another machine. */
export type OwnerState = "running" | "ended" | "unknown";

/** Maximum difference between two calculations of the start of a process, in milliseconds. */
const START_TOLERANCE_MS = 2_000;

/** Creates the owner for this process. */
export function createOwner(base: string): WorktreeOwner {
  return { pid: system.pid, started: getProcessStart(), place: findPlace(), base };
}

/** Encodes an owner as the reason of a lock, without characters that git would quote. */
export function encodeOwner({ pid, started, place, base }: WorktreeOwner): string {
  return `swink ${pid} ${started} ${base} ${encodeURIComponent(place)}`;
}

/** Decodes the reason of a lock; `undefined` if it is another one. */
export function decodeOwner(reason: string): WorktreeOwner | undefined {
  const match = /^swink (\d{1,15}) (\d{1,15}) ([0-9a-f]{40,64}) (\S*)$/.exec(reason);
  if (!match) return undefined;
  const [, pid, started, base = "", place = ""] = match;
  try {
    return { pid: Number(pid), started: Number(started), base, place: decodeURIComponent(place) };
  } catch {
    return undefined;
  }
}

/** Returns the state of an owner's process. */
export function getOwnerState({ pid, started, place }: WorktreeOwner): OwnerState {
  if (place !== findPlace()) return "unknown";
  if (pid !== system.pid) return pid > 0 && isProcessRunning(pid) ? "running" : "ended";
  return Math.abs(started - getProcessStart()) < START_TOLERANCE_MS ? "running" : "ended";
}

/** Returns the host name and the namespace of process ids, which differ between containers. */
function findPlace(): string {
  try {
    // deno-lint-ignore swink/untrusted-reads -- the kernel makes this file, and no command can replace it
    const host = new TextDecoder().decode(system.readFileSync("/proc/sys/kernel/hostname")).trim();
    return `${host} ${system.readLinkSync("/proc/self/ns/pid")}`;
  } catch {
    return "";
  }
}
