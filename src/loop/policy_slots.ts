/**
 * Runs the policies of one slot in order; one that throws is told of and passed over.
 *
 * @module
 */

import type { AgentMessage } from "../core/message.ts";
import { getErrorMessage } from "../core/errors.ts";
import type {
  Policy,
  PolicyVerdict,
  PostLoopContext,
  PostTurnContext,
  PreTurnContext,
  StoppedBy,
} from "../core/policy.ts";
import type { RunContext } from "./run_context.ts";

/** What the policies of a slot say together. */
export interface SlotVerdict {
  /** The first stop. */
  readonly stoppedBy?: StoppedBy;
  /** All injected messages, in order. */
  readonly injected: readonly AgentMessage[];
}

const NO_VERDICT: SlotVerdict = { injected: [] };

/** Before a turn begins. */
export function runPreTurn(run: RunContext, context: PreTurnContext): Promise<SlotVerdict> {
  return runSlot(run, (policy) => policy.preTurn?.(context));
}

/** After a turn's messages are in the history. */
export function runPostTurn(run: RunContext, context: PostTurnContext): Promise<SlotVerdict> {
  return runSlot(run, (policy) => policy.postTurn?.(context));
}

/** When the run is over. */
export async function runPostLoop(run: RunContext, context: PostLoopContext): Promise<void> {
  await runSlot(run, (policy) => policy.postLoop?.(context));
}

/** Asks one policy; `undefined` when it throws, hangs past an abort, or says nothing. */
export async function callPolicy<Verdict>(
  run: RunContext,
  policy: Policy,
  ask: () => Verdict | Promise<Verdict>,
): Promise<Verdict | undefined> {
  try {
    const verdict = ask();
    return verdict instanceof Promise ? await run.cancellation.withGrace(verdict) : verdict;
  } catch (thrown) {
    const message = `The policy "${policy.name}" failed and was passed over: ${
      getErrorMessage(thrown)
    }`;
    await run.warn("policy_failed", message, { policy: policy.name });
    return undefined;
  }
}

async function runSlot(
  run: RunContext,
  ask: (policy: Policy) => PolicyVerdict | Promise<PolicyVerdict>,
): Promise<SlotVerdict> {
  const { policies } = run.config;
  if (policies.length === 0) return NO_VERDICT;
  const injected: AgentMessage[] = [];
  for (const policy of policies) {
    const verdict = await callPolicy(run, policy, () => ask(policy));
    if (verdict?.type === "inject") injected.push(...verdict.messages);
    if (verdict?.type === "stop") {
      return { stoppedBy: { policy: policy.name, reason: verdict.reason }, injected };
    }
  }
  return { injected };
}
