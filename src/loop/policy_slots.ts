/**
 * Calls the hooks of policies.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors.ts";
import type { AgentMessage } from "../core/message.ts";
import type {
  Policy,
  PolicyVerdict,
  PostLoopContext,
  PostTurnContext,
  PreTurnContext,
  StoppedBy,
} from "../core/policy.ts";
import type { RunServices } from "./run_services.ts";

/** The combined verdict of all policies in a slot. */
export interface SlotVerdict {
  /** The first stop. */
  readonly stoppedBy?: StoppedBy;
  /** All injected messages, in order. */
  readonly injected: readonly AgentMessage[];
}

/** Runs the policies before a turn. */
export function runPreTurn(run: RunServices, context: PreTurnContext): Promise<SlotVerdict> {
  return runSlot(run, (policy) => policy.preTurn?.(context));
}

/** Runs the policies after a turn, when its messages are in the history. */
export function runPostTurn(run: RunServices, context: PostTurnContext): Promise<SlotVerdict> {
  return runSlot(run, (policy) => policy.postTurn?.(context));
}

/** Runs the policies at the end of a run; their verdicts are ignored. */
export async function runPostLoop(run: RunServices, context: PostLoopContext): Promise<void> {
  await runSlot(run, (policy) => policy.postLoop?.(context));
}

/** Calls one hook; returns `undefined` if it throws or rejects, does not settle after an abort, or returns nothing. */
export async function callPolicy<Verdict>(
  run: RunServices,
  policy: Policy,
  call: () => Verdict | Promise<Verdict>,
): Promise<Verdict | undefined> {
  try {
    const verdict = call();
    return verdict instanceof Promise ? await run.cancellation.withGrace(verdict) : verdict;
  } catch (thrown) {
    const message = `The policy "${policy.name}" failed and was skipped: ${
      getErrorMessage(thrown)
    }`;
    await run.events.warn("policy_failed", message, { policy: policy.name });
    return undefined;
  }
}

async function runSlot(
  run: RunServices,
  call: (policy: Policy) => PolicyVerdict | Promise<PolicyVerdict>,
): Promise<SlotVerdict> {
  const injected: AgentMessage[] = [];
  for (const policy of run.config.policies) {
    const verdict = await callPolicy(run, policy, () => call(policy));
    if (verdict?.type === "inject") injected.push(...verdict.messages);
    if (verdict?.type === "stop") {
      return { stoppedBy: { policy: policy.name, reason: verdict.reason }, injected };
    }
  }
  return { injected };
}
