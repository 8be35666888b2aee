/**
 * Limits the time of an operation.
 *
 * @module
 */

import { NetworkError } from "../../core/errors/errors.ts";
import { abortable } from "../../core/ports/abortable.ts";
import type { Clock } from "../../core/ports/ports.ts";

/** Options for {@linkcode withTimeLimit}. */
export interface TimeLimit {
  readonly clock: Clock;
  readonly milliseconds: number;
  /** Aborts the operation. Default: nothing does. */
  readonly signal?: AbortSignal;
  /** Message of the error when the time has passed. */
  readonly message: string;
}

/** Runs an operation; rejects with a `NetworkError` after the time, and with the reason of the signal on its abort. */
export async function withTimeLimit<Value>(
  operation: (signal: AbortSignal) => Promise<Value>,
  { clock, milliseconds, signal, message }: TimeLimit,
): Promise<Value> {
  const controller = new AbortController();
  const timer = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  void clock.sleep(milliseconds, timer.signal).then(() => {
    if (!timer.signal.aborted) controller.abort(new NetworkError(message));
  });
  try {
    return await abortable(operation(controller.signal), controller.signal);
  } finally {
    timer.abort();
    signal?.removeEventListener("abort", onAbort);
  }
}
