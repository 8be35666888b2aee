/**
 * Timers on a {@linkcode Clock}.
 *
 * @module
 */

import type { Clock } from "../../../src/core/ports.ts";

/** Given as the reason of an abort, because the default reason records a stack trace. */
const CANCELLED = "cancelled";

/** Calls `onTimer` after a delay in milliseconds. The returned function cancels the call. */
export function startTimer(clock: Clock, delayMs: number, onTimer: () => void): () => void {
  const cancellation = new AbortController();
  const { signal } = cancellation;
  void clock.sleep(delayMs, signal).then(() => signal.aborted ? undefined : onTimer());
  return () => cancellation.abort(CANCELLED);
}
