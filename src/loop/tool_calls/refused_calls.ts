/**
 * Reports tool calls that do not run to the policies.
 *
 * @module
 */

import { callPolicy } from "../run/policy_slots.ts";
import { createPolicyContext, type TurnContext } from "../run/turn_context.ts";
import type { PreparedCall, ReadyCall } from "./prepared_call.ts";

/** Reports a valid call that was refused to the policies, once. */
export async function reportRefusedCall(
  turn: TurnContext,
  { block, tool }: ReadyCall,
): Promise<void> {
  const { run, settings } = turn;
  const { refusedCalls, config: { policies } } = run;
  if (refusedCalls.has(block) || tool === settings.answerTool) return;
  refusedCalls.add(block);
  for (const policy of policies) {
    if (!policy.onRefused) continue;
    const context = createPolicyContext(turn, { toolCallId: block.id, tool });
    const call = () => policy.onRefused?.(context);
    const { cancellation } = turn;
    await callPolicy(run, policy, { hook: "onRefused", cancellation, call, parse: () => {} });
  }
}

/** Reports the calls of a batch that were valid, and are refused after its stages. */
export async function reportRefusedCalls(
  turn: TurnContext,
  before: readonly PreparedCall[],
  after: readonly PreparedCall[],
): Promise<void> {
  for (const [index, call] of before.entries()) {
    if (call.type === "ready" && after[index]?.type !== "ready") {
      await reportRefusedCall(turn, call);
    }
  }
}
