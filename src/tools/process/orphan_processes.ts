/**
 * Processes that left their group (`setsid`) and outlive their command: found by a mark in their environment.
 *
 * @module
 */

/** The variable that marks everything a command starts. */
export const MARK_VARIABLE = "SWINK_CALL";

/** A process takes a moment to die, and may have started another one just before: look again, but not for ever. */
const MAX_PASSES = 50;

/** A process that has no environment yet gets one within so many looks, or never. */
const STARTING_PASSES = 5;

const PASS_INTERVAL_MS = 2;

/** Ends every process whose environment carries the mark, and waits until it is gone. Works where there is a `/proc`. */
export async function killOrphanProcesses(mark: string): Promise<void> {
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const { marked, starting } = scanProcesses(mark);
    if (marked.length === 0 && (starting.length === 0 || pass >= STARTING_PASSES)) return;
    marked.forEach(killProcess);
    await new Promise((resolve) => setTimeout(resolve, PASS_INTERVAL_MS));
  }
}

/** The processes whose environment carries the mark. */
export function findMarkedProcesses(mark: string): number[] {
  return scanProcesses(mark).marked;
}

interface ProcessScan {
  readonly marked: number[];
  /** Processes in the middle of becoming another program: for an instant they have no environment. */
  readonly starting: number[];
}

function scanProcesses(mark: string): ProcessScan {
  const look: ProcessScan = { marked: [], starting: [] };
  if (Deno.build.os !== "linux") return look;
  const wanted = `${MARK_VARIABLE}=${mark}`;
  const decoder = new TextDecoder();
  for (const pid of listProcessIds()) {
    try {
      const environment = Deno.readFileSync(`/proc/${pid}/environ`);
      if (decoder.decode(environment).split("\0").includes(wanted)) look.marked.push(pid);
      else if (environment.length === 0 && isStarting(pid)) look.starting.push(pid);
    } catch {
      // Ended meanwhile, or somebody else's.
    }
  }
  return look;
}

/** Threads of the kernel have no program, and neither have the dead; a program without any environment is older. */
function isStarting(pid: number): boolean {
  Deno.readLinkSync(`/proc/${pid}/exe`);
  const born = Deno.lstatSync(`/proc/${pid}`).mtime?.getTime() ?? 0;
  return Date.now() - born < MAX_STARTUP_MS;
}

/** Longer than that nobody takes to start. */
const MAX_STARTUP_MS = 1_000;

function listProcessIds(): number[] {
  try {
    return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => pid > 1);
  } catch {
    return [];
  }
}

function killProcess(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It was faster.
  }
}
