/**
 * Waits for a process: until it ends, its time is over, or the call is cancelled; then nothing of it is left.
 *
 * @module
 */

import { type ProcessExit, type RunningProcess, settlesWithin } from "./running_process.ts";

/** How a watched process came to its end. */
export type ProcessOutcome =
  | { readonly type: "exited"; readonly exit: ProcessExit }
  | { readonly type: "timed_out" }
  | { readonly type: "cancelled" };

/** What {@linkcode watchProcess} is told. */
export interface WatchOptions {
  /** Cancels. */
  readonly signal?: AbortSignal;
  /** Longest time in milliseconds. */
  readonly timeoutMs?: number;
  /** Takes the output as it comes. */
  readonly onOutput: (chunk: Uint8Array) => void | Promise<void>;
}

/** From SIGTERM to SIGKILL: short enough that a cancelled call ends within its 100 ms. */
const KILL_GRACE_MS = 60;

/** What is still in the pipe when the last process has ended is read at once; a stray holder is not waited for. */
const DRAIN_MS = 200;

/** Reads all output and waits for the end. The whole process group is gone when this settles. */
export async function watchProcess(
  process: RunningProcess,
  options: WatchOptions,
): Promise<ProcessOutcome> {
  const reader = process.output.getReader();
  const pumping = pumpOutput(reader, options.onOutput);
  const outcome = await waitForOutcome(process, options);
  await process.terminate(KILL_GRACE_MS);
  if (!(await settlesWithin(DRAIN_MS, pumping))) await reader.cancel();
  await pumping;
  return outcome;
}

async function pumpOutput(
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
  const { promise: stopped, resolve } = Promise.withResolvers<ProcessOutcome>();
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
