/**
 * The deadline of tests that wait for processes and connections.
 *
 * @module
 */

/** Longer than any test takes, also on a busy machine, in milliseconds. */
export const DEADLINE_MS = 120_000;

/**
 * Returns a signal that aborts after a time in milliseconds. Default: two minutes. A test passes it to the processes and
 * servers that it waits for, so that it fails instead of waiting forever. The sanitizers do not count its timer.
 */
export function createDeadline(milliseconds: number = DEADLINE_MS): AbortSignal {
  return AbortSignal.timeout(milliseconds);
}

/**
 * Resolves or rejects as a promise does; rejects with a `TimeoutError` when it is still pending after `milliseconds`.
 * Default: two minutes.
 */
export async function withDeadline<T>(promise: Promise<T>, milliseconds?: number): Promise<T> {
  const deadline = createDeadline(milliseconds);
  const { promise: expired, reject } = Promise.withResolvers<never>();
  deadline.addEventListener("abort", () => reject(deadline.reason));
  return await Promise.race([promise, expired]);
}
