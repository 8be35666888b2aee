/**
 * Calls the `onDelta` policies during a turn.
 *
 * @module
 */

import { refusePromise } from "../../core/errors/refuse_promise.ts";
import type { StoppedBy } from "../../core/events/stopped_by.ts";
import type { Policy, RunningCall } from "../../core/hooks/policy.ts";
import { cloneJson } from "../../core/json/json.ts";
import { copyAmounts } from "../../core/messages/copy_message.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import type { Prices } from "../../core/models/usage.ts";
import { realSleep } from "../../core/ports/ports.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import { parseVerdict, warnHookFailed } from "./policy_slots.ts";
import { lookUpRates } from "./price.ts";
import { pickLateSpending, type RunProgress } from "./run_progress.ts";
import type { RunServices } from "./run_services.ts";

/** Time between two calls of the policies, in milliseconds. */
export const CHECK_INTERVAL_MS = 250;

/** The state that a monitor passes to the policies. */
export interface MonitoredState {
  /** The model of the reply. */
  readonly model: ModelSpec;
  /** The prices that are known for the model. */
  readonly prices: Prices | undefined;
  /** The progress of the run, without the reply that streams. */
  readonly progress: RunProgress;
  /** Provides the length of the reply so far, in UTF-16 code units. Default: no reply streams. */
  readonly reply?: { readonly characters: number } | undefined;
  /** The maximum number of output tokens of the model that is about to be called, if it is known. */
  readonly maxOutputTokens?: number | undefined;
}

/** A tool call that a monitor watches. */
export interface WatchedCall {
  /** The call while it runs. */
  readonly running: RunningCall | undefined;
}

/** Calls every `onDelta` at a fixed interval, even if no data arrives, and aborts the turn on the first `stop`. */
export class TurnMonitor {
  readonly #run: RunServices;
  readonly #cancellation: Cancellation;
  readonly #policies: readonly Policy[];
  readonly #failed = new Set<Policy>();
  readonly #stopped = new AbortController();
  #state: MonitoredState;
  #calls: readonly WatchedCall[] = [];
  #stoppedBy: StoppedBy | undefined;

  /** Starts a monitor that aborts `cancellation`; call it only if a policy has an `onDelta`. */
  constructor(run: RunServices, cancellation: Cancellation, state: MonitoredState) {
    this.#run = run;
    this.#cancellation = cancellation;
    this.#policies = run.config.policies.filter((policy) => policy.onDelta);
    this.#state = state;
    void this.#checkPeriodically();
  }

  /** The policy that stopped the turn, if one did. */
  get stoppedBy(): StoppedBy | undefined {
    return this.#stoppedBy;
  }

  /** Sets the state of the following calls; while a reply streams, the policies are called immediately. */
  update(state: MonitoredState): void {
    this.#state = state;
    if (state.reply && !this.#stopped.signal.aborted) this.#check();
  }

  /** Sets the state for a reply, and calls the policies before its model is called. */
  start(state: MonitoredState): void {
    this.#state = state;
    if (!this.#stopped.signal.aborted) this.#check({ isStarting: true });
  }

  /** Passes the calls that run to the policies. */
  watchCalls(calls: readonly WatchedCall[]): void {
    this.#calls = calls;
  }

  /** Stops the monitor. */
  stop(): void {
    // Without a reason, an error with a stack would be created in each turn.
    this.#stopped.abort("the turn has ended");
  }

  /**
   * Calls the policies until the monitor stops. Also ends if the clock (a fake one) does not advance during a sleep; one
   * that is set back is followed. A fake sleep may end immediately, so that a timer keeps the event loop running.
   */
  async #checkPeriodically(): Promise<void> {
    const { signal } = this.#stopped;
    const { config } = this.#run;
    let checkedAt = config.now();
    while (true) {
      await config.sleep(CHECK_INTERVAL_MS, signal);
      if (signal.aborted || config.now() === checkedAt || this.#check()) return;
      checkedAt = config.now();
      await realSleep(0, signal);
    }
  }

  /** Calls the policies; returns whether one of them stopped the turn. */
  #check({ isStarting = false } = {}): boolean {
    const { runId, elapsedMs, config } = this.#run;
    const { model, prices, progress, reply, maxOutputTokens } = this.#state;
    const context = {
      runId,
      model: cloneJson(model),
      rates: lookUpRates(prices, model),
      isReplying: reply !== undefined,
      isStarting,
      maxOutputTokens,
      characters: reply?.characters ?? 0,
      runningCalls: this.#calls.flatMap(({ running }) => running ?? []),
      usage: copyAmounts(progress.usage),
      cost: copyAmounts(progress.cost),
      ...pickLateSpending(progress),
      elapsedMs,
      context: config.context,
    };
    for (const policy of this.#policies) {
      try {
        const returned = policy.onDelta?.(context);
        refusePromise(returned, "onDelta");
        const verdict = parseVerdict(returned, ["stop"]);
        // A turn that was aborted already does not stop again.
        if (!verdict || this.#cancellation.aborted) continue;
        this.#stoppedBy = { policy: policy.name, reason: verdict.reason };
        this.stop();
        this.#cancellation.abort(this.#stoppedBy);
        return true;
      } catch (thrown) {
        this.#warnOnce(policy, thrown);
      }
    }
    return false;
  }

  #warnOnce(policy: Policy, thrown: unknown): void {
    if (this.#failed.has(policy)) return;
    this.#failed.add(policy);
    void warnHookFailed(this.#run, { policy, hook: "onDelta", thrown });
  }
}
