/**
 * The `onDelta` policies, called while a reply streams.
 *
 * @module
 */

import type { ModelSpec } from "../core/model.ts";
import type { Policy, StoppedBy } from "../core/policy.ts";
import type { Cancellation } from "./cancellation.ts";
import type { RunProgress } from "./run_progress.ts";
import type { RunServices } from "./run_services.ts";

/** Milliseconds between two calls of the policies. */
const CHECK_INTERVAL_MS = 250;

/** Options for `ReplyMonitor.start()`. */
export interface ReplyMonitorOptions {
  /** The result of the run before this reply. */
  readonly progress: RunProgress;
  /** Counts the characters that have arrived. */
  readonly reader: { readonly characters: number };
  /** Aborts the reply. */
  readonly cancellation: Cancellation;
  /** The model of the reply. */
  readonly model: ModelSpec;
}

/** Calls every `onDelta` at a fixed interval, also while no data arrives, and aborts the reply on the first stop. */
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

  /** Starts a monitor; returns `undefined` when no policy has an `onDelta`. */
  static start(run: RunServices, options: ReplyMonitorOptions): ReplyMonitor | undefined {
    const policies = run.config.policies.filter((policy) => policy.onDelta);
    if (policies.length === 0) return undefined;
    const monitor = new ReplyMonitor(run, options, policies);
    void monitor.#checkPeriodically();
    return monitor;
  }

  /** The policy that stopped the reply. */
  get stoppedBy(): StoppedBy | undefined {
    return this.#stoppedBy;
  }

  /** Stops the monitor. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Ends also when the clock does not advance, as a scripted one may: nothing would change any more. */
  async #checkPeriodically(): Promise<void> {
    const { signal } = this.#stopped;
    const { config } = this.#run;
    let checkedAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted && config.now() > checkedAt && !this.#check()) {
      checkedAt = config.now();
      await config.sleep(CHECK_INTERVAL_MS, signal);
    }
  }

  /** Calls the policies; returns `true` when one of them stopped the reply. */
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
        void events.warn("policy_failed", `The policy "${policy.name}" failed: ${thrown}`);
      }
    }
    return false;
  }
}
