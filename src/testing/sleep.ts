/**
 * Waiting, as a port.
 *
 * @module
 */

import type { Sleep } from "../loop/ports.ts";

export type { Sleep };

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
