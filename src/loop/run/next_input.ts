/**
 * The input that continues a run whose turns have no next step: queued messages, or the messages of background work.
 *
 * @module
 */

import type { StoppedBy } from "../../core/events/stopped_by.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import { getPrices } from "./price.ts";
import type { RunProgress } from "./run_progress.ts";
import type { RunServices } from "./run_services.ts";
import type { TurnInput } from "./turn_input.ts";
import { TurnMonitor } from "./turn_monitor.ts";

/** The input of the next turn of a run, or why it has none. */
export type NextInput =
  | { readonly type: "input"; readonly input: TurnInput }
  /** A policy has stopped the run while it waited for background work. */
  | { readonly type: "stopped"; readonly stoppedBy: StoppedBy }
  /** The run was aborted before the next turn, or while it waited for background work. */
  | { readonly type: "aborted" }
  | { readonly type: "complete" };

/** Returns the input that continues an idle run, as soon as there is any. */
export async function nextInput(run: RunServices, progress: RunProgress): Promise<NextInput> {
  const next = await takeNext(run);
  if (next) return next;
  const wait = new WatchedWait(run, progress);
  try {
    while (true) {
      await wait.untilArrival();
      const { stoppedBy } = wait;
      if (stoppedBy) return { type: "stopped", stoppedBy };
      await run.steering.poll();
      const next = await takeNext(run);
      if (next) return next;
    }
  } finally {
    wait.end();
  }
}

/**
 * Waits until the background work of a run that has no further turn has ended, or a policy ends the wait; returns the
 * progress of the run with that policy.
 */
export async function untilBackgroundEnded(
  run: RunServices,
  progress: RunProgress,
): Promise<RunProgress> {
  const wait = new WatchedWait(run, progress);
  await run.background.untilEnded(wait.cancellation);
  wait.end();
  const { stoppedBy } = wait;
  return stoppedBy ? { ...progress, stoppedBy } : progress;
}

/** Returns the next input of an idle run; `undefined` while it must wait for background work. */
async function takeNext(run: RunServices): Promise<NextInput | undefined> {
  const { followUp, steering, background, cancellation } = run;
  await followUp?.poll?.();
  if (followUp && followUp.peek().length > 0) {
    return { type: "input", input: { messages: [], queue: followUp } };
  }
  const messages = background.take();
  if (messages.length > 0 || steering.peek().length > 0) {
    return { type: "input", input: { messages } };
  }
  return background.isPending && !cancellation.aborted ? undefined : { type: "complete" };
}

/** A wait for background work, in which the policies that limit the duration of a run are called. */
class WatchedWait {
  /** Is aborted with the run, and by the policy that stops it. */
  readonly cancellation: Cancellation;
  readonly #run: RunServices;
  readonly #monitor: TurnMonitor | undefined;

  constructor(run: RunServices, progress: RunProgress) {
    this.#run = run;
    this.cancellation = run.cancellation.child();
    if (!run.config.policies.some(({ onDelta }) => onDelta)) return;
    const { model } = run.getSettings();
    const prices = getPrices(run, run.config.streamFn);
    this.#monitor = new TurnMonitor(run, this.cancellation, { model, prices, progress });
  }

  /** The policy that has stopped the run, if one did. */
  get stoppedBy(): StoppedBy | undefined {
    return this.#monitor?.stoppedBy;
  }

  /** Resolves when background work ends, a message is queued, or the wait is aborted. */
  untilArrival(): Promise<void> {
    const { background, steering, followUp } = this.#run;
    return new Promise((resolve) => {
      const queues = [steering, followUp];
      const unsubscribe = queues.map((queue) => queue?.onArrival?.(end));
      function end(): void {
        for (const stop of unsubscribe) stop?.();
        resolve();
      }
      void background.nextEnd(this.cancellation).then(end);
      // A message may have arrived since the queues were read.
      if (queues.some((queue) => queue && queue.peek().length > 0)) end();
    });
  }

  /** Ends the calls of the policies. */
  end(): void {
    this.#monitor?.stop();
    this.cancellation.dispose();
  }
}
