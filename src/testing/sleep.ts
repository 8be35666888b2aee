/**
 * Waiting, as a port.
 *
 * @module
 */

/** Waits; ends early when the signal fires. Tests bring one that does not really wait. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Waits by the real clock; `Infinity` waits for the signal alone. */
export function realSleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = milliseconds === Infinity ? undefined : setTimeout(end, milliseconds);
    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    }
    signal?.addEventListener("abort", end);
  });
}
