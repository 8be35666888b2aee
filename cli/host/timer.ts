/**
 * Timers as a port, which tests replace by a clock of their own.
 *
 * @module
 */

/** Calls `callback` once after `delayMs` milliseconds, unless the returned function is called before. */
export type StartTimer = (callback: () => void, delayMs: number) => () => void;

/** Starts a timer of the runtime. */
export function startTimer(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
