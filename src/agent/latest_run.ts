/**
 * The transition between two runs of an agent.
 *
 * @module
 */

import type { Sleep } from "../core/ports/ports.ts";
import { Cancellation } from "../loop/callbacks/cancellation.ts";
import type { EventPipe } from "../loop/events/event_pipe.ts";
import type { StartedRun } from "../loop/start_run.ts";

/** The latest run of an agent; events between runs go through its pipe. */
export type LatestRun = Pick<StartedRun, "pipe" | "settled">;

/** Options for `drainPreviousRun()`. */
export interface DrainOptions {
  /** Returns the pipe of the next run. */
  readonly nextPipe: () => EventPipe;
  /** Waits for listeners. */
  readonly sleep: Sleep;
}

/**
 * Waits until a run is over and its listeners have handled every event. A listener may itself wait for the next run, so
 * it has only the time that it has after an abort; then the pipe of the next run takes over the remaining events.
 */
export async function drainPreviousRun(
  { settled, pipe }: LatestRun,
  { nextPipe, sleep }: DrainOptions,
): Promise<void> {
  await settled;
  const drained = pipe.drained();
  if (!drained) return;
  const deadline = new Cancellation({ sleep });
  deadline.abort();
  await deadline.withGrace(drained).catch(() => {});
  deadline.dispose();
  nextPipe().adoptPending(pipe);
}
