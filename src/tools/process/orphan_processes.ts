/**
 * Processes that left their group (`setsid`) and outlive their command, found by a variable in their environment.
 *
 * @module
 */

import { system } from "../../platform/system.ts";
import { isMissingPermission } from "../../platform/system_error.ts";

/** Name of the variable that identifies the processes of a command. */
export const MARK_VARIABLE = "SWINK_CALL";

/** Maximum number of scans. A killed process takes a moment to end, and may have started another one just before. */
const MAX_PASSES = 50;

/** Maximum number of scans in which a process without an environment is waited for. */
const STARTING_PASSES = 5;

const PASS_INTERVAL_MS = 2;

/** Number of searches in sequence that must find nothing. */
const EMPTY_PASSES = 2;

/** Kills the processes whose environment has the mark and waits until they have ended. Does nothing except on Linux. */
export async function killOrphanProcesses(mark: string): Promise<void> {
  if (system.build.os !== "linux") return;
  if (canReadProcesses()) await killReadProcesses(mark);
  else await killSearchedProcesses(mark);
}

/** Whether the runtime lets this program read `/proc`, for which Deno needs all permissions. */
function canReadProcesses(): boolean {
  try {
    system.lstatSync("/proc/self");
    return true;
  } catch (error) {
    return !isMissingPermission(error);
  }
}

async function killSearchedProcesses(mark: string): Promise<void> {
  const { searchMarkedProcesses } = await import("./search_processes.ts");
  let emptyPasses = 0;
  // A process in the middle of `execve()` is missing in one pass.
  for (let pass = 0; pass < MAX_PASSES && emptyPasses < EMPTY_PASSES; pass++) {
    const found = await searchMarkedProcesses(`${MARK_VARIABLE}=${mark}`);
    found.forEach(killProcess);
    emptyPasses = found.length === 0 ? emptyPasses + 1 : 0;
  }
}

async function killReadProcesses(mark: string): Promise<void> {
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const { marked, starting } = scanProcesses(mark);
    if (marked.length === 0 && (starting.length === 0 || pass >= STARTING_PASSES)) return;
    marked.forEach(killProcess);
    await new Promise((resolve) => setTimeout(resolve, PASS_INTERVAL_MS));
  }
}

/** Returns the ids of the processes whose environment has the mark. */
export function findMarkedProcesses(mark: string): number[] {
  return scanProcesses(mark).marked;
}

interface ProcessScan {
  readonly marked: number[];
  /** Processes in the middle of `execve()`, which have no environment for an instant. */
  readonly starting: number[];
}

function scanProcesses(mark: string): ProcessScan {
  const scan: ProcessScan = { marked: [], starting: [] };
  if (system.build.os !== "linux") return scan;
  const markedVariable = `${MARK_VARIABLE}=${mark}`;
  const decoder = new TextDecoder();
  for (const pid of listProcessIds()) {
    try {
      // deno-lint-ignore swink/untrusted-reads -- the kernel makes these files, and no command can replace them
      const environment = system.readFileSync(`/proc/${pid}/environ`);
      if (decoder.decode(environment).split("\0").includes(markedVariable)) scan.marked.push(pid);
      else if (environment.length === 0 && isStarting(pid)) scan.starting.push(pid);
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
  return scan;
}

/** Whether a process has just started. Throws for kernel threads and zombies, which have no `exe`. */
function isStarting(pid: number): boolean {
  system.readLinkSync(`/proc/${pid}/exe`);
  const startedAt = system.lstatSync(`/proc/${pid}`).mtime?.getTime() ?? 0;
  return Date.now() - startedAt < MAX_STARTUP_MS;
}

/** Maximum age of a process that has no environment yet. */
const MAX_STARTUP_MS = 1_000;

function listProcessIds(): number[] {
  try {
    return [...system.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) =>
      pid > 1
    );
  } catch {
    return [];
  }
}

function killProcess(pid: number): void {
  try {
    system.kill(pid, "SIGKILL");
  } catch {
    // The process has ended already.
  }
}
