/**
 * The clock of an adapter: time for `Retry-After` dates, and timers for time limits.
 *
 * @module
 */

/** Time as an adapter sees it; tests put a fake one in. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back after a delay in milliseconds; the answer cancels that. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The runtime's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
