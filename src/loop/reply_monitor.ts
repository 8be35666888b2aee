/**
 * Policies that watch a reply while it streams.
 *
 * @module
 */

import type { ModelSpec } from "../core/model.ts";
import type { Policy, StoppedBy } from "../core/policy.ts";
import type { Cancellation } from "./cancellation.ts";
import type { RunContext } from "./run_context.ts";

/** How often the policies are asked, in milliseconds. */
const WATCH_INTERVAL_MS = 250;

/** What {@linkcode ReplyMonitor} watches. */
export interface ReplyMonitorOptions {
  /** How much has arrived. */
  readonly reader: { readonly characters: number };
  /** Stops the reply. */
  readonly cancellation: Cancellation;
  /** The model that answers. */
  readonly model: ModelSpec;
}

/**
 * Asks every `onDelta` at a steady pace, also while nothing arrives, and stops the reply for the first
 * that says so.
 */
export class ReplyMonitor {
  readonly #run: RunContext;
  readonly #options: ReplyMonitorOptions;
  readonly #policies: readonly Policy[];
  readonly #ended = new AbortController();
  #stoppedBy: StoppedBy | undefined;

  private constructor(run: RunContext, watched: ReplyMonitorOptions, policies: readonly Policy[]) {
    this.#run = run;
    this.#options = watched;
    this.#policies = policies;
  }

  /** Begins to watch, when any policy wants to. */
  static start(run: RunContext, watched: ReplyMonitorOptions): ReplyMonitor | undefined {
    const policies = run.config.policies.filter((policy) => policy.onDelta);
    if (policies.length === 0) return undefined;
    const watch = new ReplyMonitor(run, watched, policies);
    void watch.#checkPeriodically();
    return watch;
  }

  /** The policy that stopped the reply. */
  get stoppedBy(): StoppedBy | undefined {
    return this.#stoppedBy;
  }

  /** Stops watching. */
  stop(): void {
    this.#ended.abort();
  }

  /** Ends as well when the clock stands still, as a scripted one may: nothing would ever change. */
  async #checkPeriodically(): Promise<void> {
    const { signal } = this.#ended;
    const { config } = this.#run;
    let lookedAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted && config.now() > lookedAt && !this.check()) {
      lookedAt = config.now();
      await config.sleep(WATCH_INTERVAL_MS, signal);
    }
  }

  /** Asks now; `true` when the reply was stopped. */
  check(): boolean {
    const { runId, usage, cost, elapsedMs } = this.#run;
    const { model, reader: { characters } } = this.#options;
    const context = { runId, model, usage, cost, elapsedMs, characters };
    for (const policy of this.#policies) {
      try {
        const verdict = policy.onDelta?.(context);
        if (verdict?.type !== "stop") continue;
        this.#stoppedBy = { policy: policy.name, reason: verdict.reason };
        this.#options.cancellation.abort(this.#stoppedBy);
        return true;
      } catch (thrown) {
        void this.#run.warn("policy_failed", `The policy "${policy.name}" failed: ${thrown}`);
      }
    }
    return false;
  }
}
