/**
 * Applies the `postDispatch` policies to the result of a tool call.
 *
 * @module
 */

import { cloneJson } from "../../core/json/json.ts";
import { copyToolResult } from "../../core/messages/to_tool_result.ts";
import { type AgentToolResult, errorResult } from "../../core/messages/tool_result.ts";
import { callPolicy } from "../run/policy_slots.ts";
import { createPolicyContext, type TurnContext } from "../run/turn_context.ts";
import type { ReadyCall } from "./prepared_call.ts";

/** A call whose tool has settled. */
export interface SettledCall {
  /** The result. */
  readonly result: AgentToolResult;
  /** Duration of the call, in milliseconds. */
  readonly durationMs: number;
}

/**
 * Returns the result as the policies leave it; a policy that fails withholds it. The others are called nevertheless, as a
 * budget counts the call, and cannot replace a result that is withheld.
 */
export async function applyPostDispatch(
  turn: TurnContext,
  { block: { id, name }, tool, arguments: args }: ReadyCall,
  { result: settled, durationMs }: SettledCall,
): Promise<AgentToolResult> {
  let result = settled;
  let isWithheld = false;
  for (const policy of turn.run.config.policies) {
    if (!policy.postDispatch) continue;
    const context = createPolicyContext(turn, {
      toolCall: { id, name, arguments: cloneJson(args) },
      tool,
      result: cloneJson(result),
      durationMs,
    });
    const outcome = await callPolicy(turn.run, policy, {
      hook: "postDispatch",
      cancellation: turn.cancellation,
      call: () => policy.postDispatch?.(context),
      parse: (returned) => parseReplacement(returned, result),
    });
    if (isWithheld) continue;
    if (outcome.type === "failed") {
      isWithheld = true;
      const text =
        `The result was withheld because the policy "${policy.name}" failed: ${outcome.reason}`;
      result = keepSpending(result, errorResult(text));
    } else result = keepSpending(result, outcome.value);
  }
  return result;
}

/**
 * Checks what a hook returned; `undefined` keeps the result.
 *
 * @throws {TypeError | RangeError} If it is no result.
 */
function parseReplacement(returned: unknown, result: AgentToolResult): AgentToolResult {
  if (returned === undefined || returned === null) return result;
  return copyToolResult(returned as AgentToolResult);
}

/** Returns the result with what the tool used, unless the policy replaced that too. */
function keepSpending(
  { usage, cost }: AgentToolResult,
  replacement: AgentToolResult,
): AgentToolResult {
  return { ...(usage && { usage }), ...(cost && { cost }), ...replacement };
}
