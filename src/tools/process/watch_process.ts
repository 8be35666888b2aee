/**
 * Waits for a process until it ends, times out or is cancelled, and ends its process group.
 *
 * @module
 */

import { createDeferred } from "../../core/ports/deferred.ts";
import { OutputReading } from "../../platform/output_reading.ts";
import type { ProcessExit, RunningProcess } from "./running_process.ts";

/** Outcome of a watched process. */
export type ProcessOutcome =
  | { readonly type: "exited"; readonly exit: ProcessExit }
  | { readonly type: "timed_out" }
  | { readonly type: "cancelled" };

/** Options for {@linkcode watchProcess}. */
export interface WatchOptions {
  /** Cancels the process. */
  readonly signal?: AbortSignal;
  /** Timeout in milliseconds. Default: none. */
  readonly timeoutMs?: number;
  /** Called with each chunk of output; a returned promise is awaited. */
  readonly onOutput: (chunk: Uint8Array) => void | Promise<void>;
}

/** Time from SIGTERM to SIGKILL: a cancelled call must end within 100 ms. */
const KILL_GRACE_MS = 60;

/**
 * Reads the output and waits for the end. The process group has ended when the promise settles.
 *
 * @throws The error of `onOutput`, which ends the process.
 */
export async function watchProcess(
  process: RunningProcess,
  options: WatchOptions,
): Promise<ProcessOutcome> {
  const reading = new OutputReading(process.output, options.onOutput);
  const failed = createDeferred<never>();
  reading.finished.catch(failed.reject);
  try {
    return await Promise.race([waitForOutcome(process, options), failed.promise]);
  } finally {
    await process.terminate(KILL_GRACE_MS);
    await reading.drain();
  }
}

async function waitForOutcome(
  process: RunningProcess,
  { signal, timeoutMs }: WatchOptions,
): Promise<ProcessOutcome> {
  const { promise: stopped, resolve } = createDeferred<ProcessOutcome>();
  const cancel = () => resolve({ type: "cancelled" });
  const timer = timeoutMs === undefined
    ? undefined
    : setTimeout(() => resolve({ type: "timed_out" }), timeoutMs);
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    const exited = process.exited.then((exit): ProcessOutcome => ({ type: "exited", exit }));
    return await Promise.race([stopped, exited]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}
