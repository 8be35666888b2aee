/**
 * The memory of a process and of those that it starts, from `/proc` of Linux.
 *
 * @module
 */

const POLL_MS = 10;

/** Resolves with the peak of the resident memory of a process and its descendants, in MB, when the process has ended. */
export async function measurePeakMemory(process: Deno.ChildProcess): Promise<number> {
  const peaks = new Map<number, number>();
  let ended = false;
  const end = process.status.then(() => {
    ended = true;
  });
  while (!ended) {
    for (const pid of listDescendants(process.pid)) {
      const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readStatus(pid))?.[1] ?? 0);
      peaks.set(pid, Math.max(peaks.get(pid) ?? 0, kilobytes));
    }
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, POLL_MS))]);
  }
  // The largest one: pages that processes share would count twice in a sum.
  return Math.max(...peaks.values()) / 1024;
}

function listDescendants(pid: number): number[] {
  const children = readText(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean);
  return [pid, ...children.flatMap((child) => listDescendants(Number(child)))];
}

function readStatus(pid: number): string {
  return readText(`/proc/${pid}/status`);
}

/** Reads a file of `/proc`; an empty text if its process has ended. */
function readText(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}
