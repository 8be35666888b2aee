/**
 * Processes that left their group (`setsid`) and outlive their command: found by a mark in their environment.
 *
 * @module
 */

/** The variable that marks everything a command starts. */
export const MARK_VARIABLE = "SWINK_CALL";

/** A process takes a moment to die, and may have started another one just before: look again, but not for ever. */
const MOST_PASSES = 50;

/** A process that has no environment yet gets one within so many looks, or never. */
const STARTING_PASSES = 5;

const BETWEEN_PASSES_MS = 2;

/** Ends every process whose environment carries the mark, and waits until it is gone. Works where there is a `/proc`. */
export async function endStrays(mark: string): Promise<void> {
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const { marked, starting } = lookAtProcesses(mark);
    if (marked.length === 0 && (starting.length === 0 || pass >= STARTING_PASSES)) return;
    marked.forEach(kill);
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_PASSES_MS));
  }
}

/** The processes whose environment carries the mark. */
export function markedProcesses(mark: string): number[] {
  return lookAtProcesses(mark).marked;
}

interface Look {
  readonly marked: number[];
  /** Processes in the middle of becoming another program: for an instant they have no environment. */
  readonly starting: number[];
}

function lookAtProcesses(mark: string): Look {
  const look: Look = { marked: [], starting: [] };
  if (Deno.build.os !== "linux") return look;
  const wanted = `${MARK_VARIABLE}=${mark}`;
  const decoder = new TextDecoder();
  for (const pid of processIds()) {
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
  return Date.now() - born < STARTING_MS;
}

/** Longer than that nobody takes to start. */
const STARTING_MS = 1_000;

function processIds(): number[] {
  try {
    return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => pid > 1);
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It was faster.
  }
}
