/**
 * Processes that left their group (`setsid`) and outlive their command: found by a mark in their environment.
 *
 * @module
 */

/** The variable that marks everything a command starts. */
export const MARK_VARIABLE = "SWINK_CALL";

/** A process may be in the middle of starting another one: look until nothing new is found, but not for ever. */
const MOST_PASSES = 5;

/** Ends every process whose environment carries the mark. Works where there is a `/proc`. */
export function endStrays(mark: string): void {
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    if (markedProcesses(mark).filter(kill).length === 0) return;
  }
}

/** The processes whose environment carries the mark. */
export function markedProcesses(mark: string): number[] {
  if (Deno.build.os !== "linux") return [];
  const wanted = `${MARK_VARIABLE}=${mark}`;
  const decoder = new TextDecoder();
  return processIds().filter((pid) => {
    try {
      const environment = decoder.decode(Deno.readFileSync(`/proc/${pid}/environ`));
      return environment.split("\0").includes(wanted);
    } catch {
      // Ended meanwhile, or somebody else's.
      return false;
    }
  });
}

function processIds(): number[] {
  try {
    return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => pid > 1);
  } catch {
    return [];
  }
}

function kill(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}
