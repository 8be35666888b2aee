/**
 * From one run to the next.
 *
 * @module
 */

import { Cancellation } from "../loop/cancellation.ts";
import type { EventPipe } from "../loop/event_pipe.ts";
import type { StartedRun } from "../loop/loop.ts";
import type { Sleep } from "../core/ports.ts";

/** What an agent needs of its latest run: whatever it tells goes that run's way, also after its end. */
export type LatestRun = Pick<StartedRun, "pipe" | "settled">;

/** What {@linkcode drainPreviousRun} takes. */
export interface DrainOptions {
  /** The pipe of the run that comes. */
  readonly nextPipe: () => EventPipe;
  /** Waits for listeners. */
  readonly sleep: Sleep;
}

/**
 * Settles when a run is over and every listener has looked at what was said after it. A listener may itself be
 * waiting for the next run, so it is waited for no longer than after an abort; the next run's pipe then takes over.
 */
export async function drainPreviousRun(
  { settled, pipe }: LatestRun,
  { nextPipe: next, sleep }: DrainOptions,
): Promise<void> {
  await settled;
  const looking = pipe.drained();
  if (!looking) return;
  const hurry = new Cancellation({ sleep });
  hurry.abort();
  await hurry.withGrace(looking).catch(() => {});
  next().adoptPending(pipe);
}
