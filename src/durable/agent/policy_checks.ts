/**
 * The checks of `onDelta` policies in a durable run.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { realSleep, type Sleep } from "../../core/ports/ports.ts";
import { CHECK_INTERVAL_MS } from "../../loop/run/turn_monitor.ts";
import type { RunSteps } from "../steps/run_steps.ts";

/** Options for {@linkcode PolicyChecks}. */
export interface PolicyChecksOptions {
  /** The steps of the run. */
  readonly steps: RunSteps;
  /** Waits. */
  readonly sleep: Sleep;
  /** Whether the agent waits for a decision. */
  readonly isWaiting: () => boolean;
}

/** Determines when the policies of an agent check a turn: at the same points in every replay. */
export class PolicyChecks {
  readonly #options: PolicyChecksOptions;
  readonly #waits = new Set<() => void>();

  constructor(options: PolicyChecksOptions) {
    this.#options = options;
  }

  /**
   * Waits until policies check a turn: while a step is executed, whose time a replay does not repeat, or where a policy has
   * stopped the first execution.
   */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    const { steps, isWaiting } = this.#options;
    while (!signal?.aborted) {
      if (await this.#sleep(signal)) return;
      // The next execution of the run may have the same policies.
      if (steps.isDetached) return await new Promise<never>(() => {});
      await realSleep(0, signal);
      // Another agent of the run may execute a step meanwhile.
      if (signal?.aborted || isWaiting() || !steps.isExecuting) continue;
      return steps.advance(steps.readClock());
    }
  }

  /** Lets the policies check the turn now; resolves when they have. */
  async request(): Promise<void> {
    for (const resolve of [...this.#waits]) resolve();
    await realSleep(0);
  }

  /** Waits for the interval between two checks; returns `true` if a check was requested meanwhile. */
  async #sleep(signal: AbortSignal | undefined): Promise<boolean> {
    const requested = createDeferred<boolean>();
    const resolve = () => requested.resolve(true);
    const timer = new AbortController();
    const stop = () => timer.abort();
    this.#waits.add(resolve);
    signal?.addEventListener("abort", stop);
    // One promise or signal for all intervals would keep the listeners of each.
    const slept = this.#options.sleep(CHECK_INTERVAL_MS, timer.signal).then(() => false);
    try {
      return await Promise.race([requested.promise, slept]);
    } finally {
      this.#waits.delete(resolve);
      signal?.removeEventListener("abort", stop);
      stop();
    }
  }
}

/** Whether a policy has stopped the turn of a signal. */
export function isStoppedByPolicy({ reason }: AbortSignal): boolean {
  return isJsonObject(reason) && typeof reason["policy"] === "string";
}
