/**
 * Timers on a {@linkcode Clock}.
 *
 * @module
 */

import { type Clock, MAX_TIMER_MS, realSleep, resolvePorts } from "./ports.ts";

/** Reason of the abort; the default reason would record a stack trace. */
const CANCELLED = "cancelled";

/** Calls `onTimer` after a delay in milliseconds. The returned function cancels the call. */
export function startTimer(clock: Clock, delayMs: number, onTimer: () => void): () => void {
  if (clock.sleep === realSleep) {
    // A plain timer costs half as much as a sleep with an abort signal, and each model call starts three.
    const timer = setTimeout(onTimer, Math.min(delayMs, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  }
  const cancellation = new AbortController();
  const { signal } = cancellation;
  const { sleep } = resolvePorts(clock); // It never rejects.
  void sleep(delayMs, signal).then(() => signal.aborted ? undefined : onTimer());
  return () => cancellation.abort(CANCELLED);
}
