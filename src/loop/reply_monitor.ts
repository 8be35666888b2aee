/**
 * Calls the `onDelta` policies while a reply streams.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors.ts";
import type { ModelSpec } from "../core/model.ts";
import type { Policy, StoppedBy } from "../core/policy.ts";
import type { Cancellation } from "./cancellation.ts";
import type { RunProgress } from "./run_progress.ts";
import type { RunServices } from "./run_services.ts";

/** Time between two calls of the policies, in milliseconds. */
const CHECK_INTERVAL_MS = 250;

/** Options for `ReplyMonitor.start()`. */
export interface ReplyMonitorOptions {
  /** The progress of the run before this reply. */
  readonly progress: RunProgress;
  /** Provides the length of the reply so far, in UTF-16 code units. */
  readonly reader: { readonly characters: number };
  /** Aborts the reply. */
  readonly cancellation: Cancellation;
  /** The model of the reply. */
  readonly model: ModelSpec;
}

/** Calls every `onDelta` at a fixed interval, even if no data arrives, and aborts the reply on the first `stop`. */
export class ReplyMonitor {
  readonly #run: RunServices;
  readonly #options: ReplyMonitorOptions;
  readonly #policies: readonly Policy[];
  readonly #stopped = new AbortController();
  #stoppedBy: StoppedBy | undefined;

  private constructor(
    run: RunServices,
    options: ReplyMonitorOptions,
    policies: readonly Policy[],
  ) {
    this.#run = run;
    this.#options = options;
    this.#policies = policies;
  }

  /** Starts a monitor; returns `undefined` if no policy has an `onDelta`. */
  static start(run: RunServices, options: ReplyMonitorOptions): ReplyMonitor | undefined {
    const policies = run.config.policies.filter((policy) => policy.onDelta);
    if (policies.length === 0) return undefined;
    const monitor = new ReplyMonitor(run, options, policies);
    void monitor.#checkPeriodically();
    return monitor;
  }

  /** The policy that stopped the reply, if one did. */
  get stoppedBy(): StoppedBy | undefined {
    return this.#stoppedBy;
  }

  /** Stops the monitor. */
  stop(): void {
    this.#stopped.abort();
  }

  /**
   * Calls the policies until the monitor stops. Also ends if the clock (a fake one) does not advance during a sleep.
   */
  async #checkPeriodically(): Promise<void> {
    const { signal } = this.#stopped;
    const { config } = this.#run;
    let checkedAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted && config.now() > checkedAt && !this.#check()) {
      checkedAt = config.now();
      await config.sleep(CHECK_INTERVAL_MS, signal);
    }
  }

  /** Calls the policies; returns whether one of them stopped the reply. */
  #check(): boolean {
    const { runId, elapsedMs, events } = this.#run;
    const { model, progress: { usage, cost }, reader: { characters }, cancellation } =
      this.#options;
    const context = { runId, model, usage, cost, elapsedMs, characters };
    for (const policy of this.#policies) {
      try {
        const verdict = policy.onDelta?.(context);
        if (verdict?.type !== "stop") continue;
        this.#stoppedBy = { policy: policy.name, reason: verdict.reason };
        cancellation.abort(this.#stoppedBy);
        return true;
      } catch (thrown) {
        const message = `The policy "${policy.name}" failed and was skipped: ${
          getErrorMessage(thrown)
        }`;
        void events.warn("policy_failed", message, { policy: policy.name });
      }
    }
    return false;
  }
}
