/**
 * The time that a computation takes, on a machine that is busy with other work.
 *
 * @module
 */

import process from "node:process";

/**
 * Starts to measure the time that this thread computes. Returns a function that returns the milliseconds so far.
 *
 * The time that the thread waits does not count: neither for other processes, nor for files and timers.
 */
export function startThreadTimer(): () => number {
  const start = readThreadTime();
  return () => readThreadTime() - start;
}

/** Reads the time in milliseconds; on Node before 23.9 and on Bun, which do not measure it, that of the clock. */
function readThreadTime(): number {
  const { threadCpuUsage } = process as Partial<Pick<typeof process, "threadCpuUsage">>;
  if (!threadCpuUsage) return performance.now();
  const { user, system } = threadCpuUsage();
  return (user + system) / 1_000;
}
