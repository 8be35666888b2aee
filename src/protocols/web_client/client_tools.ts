/**
 * Tools that the client of a run has.
 *
 * @module
 */

import type { AgentEndEvent } from "../../core/events/event.ts";
import type { Policy } from "../../core/hooks/policy.ts";
import type { AgentMessage, ToolResultMessage } from "../../core/messages/message.ts";
import type { AgentToolResult } from "../../core/messages/tool_result.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import type { ClientInput, ClientTool } from "./client_input.ts";
import { createPlaceholder, toClientDetails, waitsForClient } from "./client_results.ts";

/** Name of the policy that ends a run for the client. */
const POLICY = "client tools";

/** Marks the tools of the client, also in copies of them. */
const IS_CLIENT_TOOL = Symbol("client tool");

/**
 * Returns tools that the client runs. A call ends the run, and the client sends its result with the next one. A call that
 * has waited with others for an approval may have its result already, behind the last reply that the client has.
 */
export function createClientTools(
  { tools, messages, approvals }: Pick<ClientInput, "tools" | "messages" | "approvals">,
): AgentTool[] {
  const answers = Object.keys(approvals).length > 0
    ? listAnswers(messages)
    : new Map<string, ToolResultMessage>();
  return tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
    // The tool runs with the rights of the user, in the client.
    readOnly: true,
    execute: (_args, { toolCallId }) =>
      Promise.resolve(
        takeAnswer(answers, toolCallId) ?? createPlaceholder(),
      ),
    [IS_CLIENT_TOOL]: true,
  }));
}

/** Returns the results behind the last reply, by the ids of their calls. */
function listAnswers(messages: readonly AgentMessage[]): Map<string, ToolResultMessage> {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return new Map(
    messages.slice(last + 1).flatMap((message) =>
      message.role === "tool_result" ? [[message.toolCallId, message] as const] : []
    ),
  );
}

/** Returns the result that the client has sent for a call. A later call may have the same id. */
function takeAnswer(
  answers: Map<string, ToolResultMessage>,
  toolCallId: string,
): AgentToolResult | undefined {
  const answer = answers.get(toolCallId);
  if (!answer) return undefined;
  answers.delete(toolCallId);
  const { content, isError, details = toClientDetails() } = answer;
  return { content: [...content], isError, details };
}

/**
 * Returns a policy that ends a run after a turn that calls a tool of the client. Agents that tools run cannot wait for the
 * client, and do not get these tools.
 */
export function endForClient(tools: readonly ClientTool[]): Policy {
  const names = tools.map(({ name }) => name);
  return {
    name: POLICY,
    canUseTool: (offered) =>
      offered.type !== "tool" || offered.parentRunIds.length === 0 ||
      !(IS_CLIENT_TOOL in offered.tool),
    postTurn: ({ toolResults }) =>
      toolResults.some((result) => waitsForClient(result, names))
        ? { type: "stop", reason: "the client runs a tool" }
        : undefined,
  };
}

/** Returns the ids of the calls for which a run has ended; none if it has ended otherwise. */
export function listClientCalls(
  { stoppedBy, messages }: AgentEndEvent,
  names: readonly string[],
): string[] {
  if (stoppedBy?.policy !== POLICY) return [];
  return messages.flatMap((message) =>
    message.role === "tool_result" && waitsForClient(message, names) ? [message.toolCallId] : []
  );
}
