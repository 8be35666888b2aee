/**
 * Calls the `preCompaction` policies before the model calls of `transformContext`.
 *
 * @module
 */

import { checkFunction } from "../../core/checks/check_function.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import type { TransformInput, TransformRequest } from "../../core/context/context.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import type { StoppedBy } from "../../core/events/stopped_by.ts";
import type { Policy, PreRequestContext } from "../../core/hooks/policy.ts";
import { checkModelSpec } from "../../core/models/model.ts";
import { toHookError } from "../callbacks/hook_error.ts";
import { getModelFacts, loadFacts } from "../run/model_facts.ts";
import { formatHook, parseVerdict } from "../run/policy_slots.ts";
import { getPrices } from "../run/price.ts";
import { addSpending } from "../run/run_progress.ts";
import { createPolicyContext, type TurnContext } from "../run/turn_context.ts";

/** Why no request follows a transform. */
export type CompactionRefusal =
  | { readonly type: "stopped"; readonly stoppedBy: StoppedBy }
  | { readonly type: "failed"; readonly thrown: unknown };

/** Asks the policies about the model calls of one transform. */
export class CompactionCheck {
  readonly #turn: TurnContext;
  readonly #policies: readonly Policy[];
  #refusal: CompactionRefusal | undefined;
  #isClosed = false;

  constructor(turn: TurnContext) {
    this.#turn = turn;
    this.#policies = turn.run.config.policies.filter(({ preCompaction }) => preCompaction);
  }

  /** The first refusal, if there was one; it ends the turn, whatever the transform returns. */
  get refusal(): CompactionRefusal | undefined {
    return this.#refusal;
  }

  /** Returns the part of the input of a transform that asks the policies. */
  createInput(): Pick<TransformInput, "checkRequest"> {
    if (this.#policies.length === 0) return {};
    return { checkRequest: (request) => this.#check(request) };
  }

  /** Ends the checks: nothing would release what a budget reserves for a call that is made later. */
  close(): void {
    this.#isClosed = true;
  }

  async #check(request: TransformRequest): Promise<StoppedBy | undefined> {
    checkObject(
      request,
      "Pass checkRequest() the model call, as { model, context, options, streamFn }",
    );
    checkModelSpec(request.model);
    checkObject(request.context, "Pass checkRequest() the context of the model call");
    checkObject(request.options, "Pass checkRequest() the options of the model call");
    checkFunction("streamFn of checkRequest()", request.streamFn);
    this.#assertOpen();
    if (!this.#refusal) await this.#callPolicies(request);
    return this.#refusal && toStoppedBy(this.#refusal);
  }

  #assertOpen(): void {
    if (!this.#isClosed) return;
    throw new BadRequestError("checkRequest() must be called before transformContext settles");
  }

  async #callPolicies(request: TransformRequest): Promise<void> {
    const { cancellation } = this.#turn;
    await loadFacts(request.streamFn, this.#turn);
    this.#assertOpen();
    const context = this.#createContext(request);
    for (const policy of this.#policies) {
      try {
        const returned = policy.preCompaction?.(context);
        const verdict = parseVerdict(await cancellation.withGrace(Promise.resolve(returned)), [
          "stop",
        ]);
        if (!verdict) continue;
        const stoppedBy = { policy: policy.name, reason: verdict.reason };
        this.#refusal ??= { type: "stopped", stoppedBy };
      } catch (thrown) {
        const error = toHookError(formatHook(policy, "preCompaction"), thrown);
        this.#refusal ??= { type: "failed", thrown: error };
      }
      return;
    }
  }

  #createContext(request: TransformRequest): PreRequestContext {
    const { run, progress } = this.#turn;
    const { model, context, options, streamFn, usage, cost } = request;
    const prices = request.prices ?? getPrices(run, streamFn);
    const charged = { ...this.#turn, progress: addSpending(progress, { usage, cost }) };
    return createPolicyContext(charged, {
      model,
      request: { model, context, options, runId: run.runId, turn: progress.turn },
      tools: [],
      ...getModelFacts(model, { streamFn, prices }),
    });
  }
}

function toStoppedBy(refusal: CompactionRefusal): StoppedBy {
  if (refusal.type === "stopped") return refusal.stoppedBy;
  return { policy: "preCompaction", reason: getErrorMessage(refusal.thrown) };
}
