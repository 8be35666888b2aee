/**
 * The deadline of tests that wait for processes and connections.
 *
 * @module
 */

/** Longer than any test takes, also on a busy machine. */
const DEADLINE_MS = 120_000;

/**
 * Returns a signal that aborts after two minutes. A test passes it to the processes and servers that it waits for, so
 * that it fails instead of waiting forever. The timer is not a leak for the sanitizers.
 */
export function createDeadline(): AbortSignal {
  return AbortSignal.timeout(DEADLINE_MS);
}

/** Resolves or rejects as a promise does; rejects with a `TimeoutError` when it is pending after two minutes. */
export async function withDeadline<T>(promise: Promise<T>): Promise<T> {
  const deadline = createDeadline();
  const { promise: expired, reject } = Promise.withResolvers<never>();
  deadline.addEventListener("abort", () => reject(deadline.reason));
  return await Promise.race([promise, expired]);
}
