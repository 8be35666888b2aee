/**
 * Applies the `preRequest` policies to a request.
 *
 * @module
 */

import { findMessageProblem } from "../core/check_message.ts";
import type { ChangeVerdict } from "../core/policy.ts";
import type { StoppedBy } from "../core/stopped_by.ts";
import { toHookError } from "./hook_error.ts";
import { getToolSpecs, type PreparedRequest } from "./request.ts";
import { createPolicyContext, type TurnContext } from "./turn_context.ts";

/** The request after the policies, or the policy that stops the run. */
export type PreRequestOutcome =
  | { readonly type: "ready"; readonly request: PreparedRequest }
  | { readonly type: "stopped"; readonly stoppedBy: StoppedBy };

/**
 * Calls the `preRequest` policies in order; each gets the request as changed by those before it.
 *
 * @throws {AgentError} If a policy throws, rejects or returns an invalid verdict.
 */
export async function applyPreRequest(
  turn: TurnContext,
  prepared: PreparedRequest,
): Promise<PreRequestOutcome> {
  const { run, progress } = turn;
  let request = prepared;
  for (const policy of run.config.policies) {
    if (!policy.preRequest) continue;
    const { model, context, options } = request;
    const input = {
      ...createPolicyContext(turn),
      model,
      request: { model, context, options, runId: run.runId, turn: progress.turn },
    };
    try {
      const verdict = await run.cancellation.withGrace(Promise.resolve(policy.preRequest(input)));
      const type = verdict?.type ?? "continue";
      if (verdict?.type === "stop") {
        const stoppedBy = { policy: policy.name, reason: String(verdict.reason) };
        return { type: "stopped", stoppedBy };
      }
      if (verdict?.type === "change") request = applyChange(request, verdict);
      else if (type !== "continue") throw new TypeError(`unknown verdict "${type}"`);
    } catch (thrown) {
      throw toHookError(`The policy "${policy.name}" (preRequest)`, thrown);
    }
  }
  return { type: "ready", request };
}

function applyChange(request: PreparedRequest, change: ChangeVerdict): PreparedRequest {
  const { model = request.model, tools = request.tools, toolChoice } = change;
  const { systemPrompt = request.context.systemPrompt } = change;
  const { messages = request.context.messages } = change;
  if (change.messages) assertMessages(messages);
  return {
    ...request,
    model,
    tools,
    context: { systemPrompt, messages, tools: getToolSpecs(tools) },
    options: { ...request.options, ...change.options, ...(toolChoice && { toolChoice }) },
  };
}

function assertMessages(messages: readonly unknown[]): void {
  for (const message of messages) {
    const problem = findMessageProblem(message);
    if (problem) throw new TypeError(`invalid messages: ${problem}`);
  }
}
