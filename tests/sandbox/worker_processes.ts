/**
 * The processes of workers, for tests on Linux.
 *
 * @module
 */

import { createDeadline } from "../deadline.ts";

/** Processor time, in units of 10 ms, after which a worker certainly does its work. */
export const BUSY_TIME = 30;

/** Returns the ids of the processes that this one has started with a text in their arguments, such as a limit. */
export async function findWorkerProcesses(text: string | number): Promise<number[]> {
  const ids: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    const id = Number(name);
    if (!(id > 0) || (await readStatus(id))[3] !== String(Deno.pid)) continue;
    const args = await Deno.readTextFile(`/proc/${id}/cmdline`).catch(() => "");
    if (args.includes(String(text))) ids.push(id);
  }
  return ids;
}

/**
 * Waits until a process that {@linkcode findWorkerProcesses} finds has used a processor for some time, and returns its id.
 * Default: {@linkcode BUSY_TIME}.
 */
export async function waitForBusyWorker(
  text: string | number,
  busyTime: number = BUSY_TIME,
): Promise<number> {
  const deadline = createDeadline();
  while (!deadline.aborted) {
    const [id] = await findWorkerProcesses(text);
    if (id !== undefined && Number((await readStatus(id))[13]) >= busyTime) return id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("No process of the worker is busy");
}

/** Returns the fields of the status of a process; none when it has ended. */
async function readStatus(id: number): Promise<readonly string[]> {
  return (await Deno.readTextFile(`/proc/${id}/stat`).catch(() => "")).split(" ");
}
