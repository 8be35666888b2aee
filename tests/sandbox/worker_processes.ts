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

/** Options for {@linkcode waitForBusyWorker}. */
export interface BusyWorkerOptions {
  /** Processor time, in units of 10 ms. Default: {@linkcode BUSY_TIME}. */
  readonly busyTime?: number;
  /** Processes of other tests, which run at the same time. Default: none. */
  readonly others?: readonly number[];
}

/** Waits until a process that {@linkcode findWorkerProcesses} finds has used a processor for some time, and returns its id. */
export async function waitForBusyWorker(
  text: string | number,
  { busyTime = BUSY_TIME, others = [] }: BusyWorkerOptions = {},
): Promise<number> {
  const deadline = createDeadline();
  while (!deadline.aborted) {
    for (const id of await findWorkerProcesses(text)) {
      if (!others.includes(id) && Number((await readStatus(id))[13]) >= busyTime) return id;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("No process of the worker is busy");
}

/** Returns the fields of the status of a process; none when it has ended. */
async function readStatus(id: number): Promise<readonly string[]> {
  return (await Deno.readTextFile(`/proc/${id}/stat`).catch(() => "")).split(" ");
}
