/**
 * Waits for a process until it ends, times out or is cancelled, and ends its process group.
 *
 * @module
 */

import { createDeferred } from "../../core/deferred.ts";
import { settlesWithin } from "../../platform/process_group.ts";
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

/** Maximum time to read the remaining output after the end, in case another process holds the pipe open. */
const DRAIN_MS = 200;

/**
 * Reads the output and waits for the end. The process group has ended when the promise settles.
 *
 * @throws The error of `onOutput`, which ends the process.
 */
export async function watchProcess(
  process: RunningProcess,
  options: WatchOptions,
): Promise<ProcessOutcome> {
  const reader = process.output.getReader();
  const reading = readOutput(reader, options.onOutput);
  const failed = createDeferred<never>();
  reading.catch(failed.reject);
  try {
    return await Promise.race([waitForOutcome(process, options), failed.promise]);
  } finally {
    await process.terminate(KILL_GRACE_MS);
    await drainOutput(reader, reading);
  }
}

/** Waits for the output that remains after the end of a process, and stops reading. */
export async function drainOutput(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  reading: Promise<void>,
): Promise<void> {
  await settlesWithin(DRAIN_MS, reading.catch(() => {}));
  await reader.cancel();
  await reading;
}

async function readOutput(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onOutput: WatchOptions["onOutput"],
): Promise<void> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    await onOutput(value);
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
