/**
 * A compaction outside of a run.
 *
 * @module
 */

import type { AgentContext, TransformInput } from "../core/context/context.ts";
import { toValidSpending } from "../core/models/valid_usage.ts";
import { Cancellation } from "./callbacks/cancellation.ts";
import type { EventPipe } from "./events/event_pipe.ts";
import { inheritPolicies } from "./inherit_rules.ts";
import { CompactionCheck } from "./model_call/compaction_check.ts";
import { Arrivals } from "./queues/arrivals.ts";
import { isOwnQueue } from "./queues/message_queue.ts";
import { checkStreamOptions } from "./run/check_config.ts";
import { type AgentLoopConfig, resolveConfig } from "./run/config.ts";
import { callPolicy } from "./run/policy_slots.ts";
import { addSpending, createProgress, type StepSpending } from "./run/run_progress.ts";
import { RunServices } from "./run/run_services.ts";
import { createPolicyContext, type TurnContext } from "./run/turn_context.ts";

/** Options for `new IdleCompaction()`. */
export interface IdleCompactionOptions {
  /** The history, the system prompt and the tools. */
  readonly context: AgentContext;
  /** The configuration of the runs. */
  readonly config: AgentLoopConfig;
  /** Emits the failures of policies. */
  readonly events: EventPipe;
  /** Aborts the compaction. */
  readonly signal: AbortSignal;
}

/** Asks the policies about the model calls of a compaction, and reports its end to them, as that of a run of its own. */
export class IdleCompaction {
  readonly #turn: TurnContext;
  readonly #check: CompactionCheck;

  /**
   * Starts a compaction.
   *
   * @throws {BadRequestError} If the configuration is invalid.
   */
  constructor({ context, config, events, signal }: IdleCompactionOptions) {
    const resolved = resolveConfig(config);
    const { sleep, newId, now } = resolved;
    const cancellation = new Cancellation({ signal, sleep });
    const run = new RunServices({
      runId: newId("run"),
      startedAt: now(),
      context,
      messages: [...context.messages],
      config: { ...resolved, policies: inheritPolicies(resolved) },
      cancellation,
      events,
      arrivals: new Arrivals(),
      unpricedModels: new Set(),
      pendingCalls: new Set(),
      // It is no run, and nothing would end its span.
      isObserved: false,
      checkStreamOptions,
      isOwnQueue,
    });
    this.#turn = {
      run,
      settings: run.getSettings(),
      progress: createProgress(false),
      cancellation,
    };
    this.#check = new CompactionCheck(this.#turn);
  }

  /** Returns the part of the input of a transform that asks the policies. */
  createInput(): Pick<TransformInput, "checkRequest"> {
    return this.#check.createInput();
  }

  /** Calls the `postCompaction` policies with what the compaction has spent. */
  async end(spending: StepSpending): Promise<void> {
    this.#check.close();
    const { run, progress, cancellation } = this.#turn;
    const ended = { ...this.#turn, progress: addSpending(progress, toValidSpending(spending)) };
    for (const policy of run.config.policies) {
      if (!policy.postCompaction) continue;
      const call = () => policy.postCompaction?.(createPolicyContext(ended));
      await callPolicy(run, policy, { hook: "postCompaction", call, parse: () => {} });
    }
    cancellation.dispose();
  }
}
