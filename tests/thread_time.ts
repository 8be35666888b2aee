/**
 * The time that a computation takes, on a machine that is busy with other work.
 *
 * @module
 */

import process from "node:process";

/**
 * Starts to measure the time that this thread computes. Returns a function that returns the milliseconds so far.
 *
 * The time that the thread waits does not count: neither for other processes, nor for files and timers. Node before 23.9 and
 * Bun do not measure it: there it is half of the time of all threads of the process, since those that compile and collect
 * garbage take up to as much, but no more than has passed.
 */
export function startThreadTimer(): () => number {
  const start = readTimes();
  return () => Math.min(...readTimes().map((time, index) => time - (start[index] ?? 0)));
}

/** Reads the times, in milliseconds, the least of which is that of the thread. */
function readTimes(): readonly number[] {
  const { threadCpuUsage } = process as Partial<Pick<typeof process, "threadCpuUsage">>;
  return threadCpuUsage
    ? [addTimes(threadCpuUsage())]
    : [addTimes(process.cpuUsage()) / 2, performance.now()];
}

function addTimes({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000;
}
