/**
 * Tools that the client of a run has.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { AgentEndEvent } from "../../core/events/event.ts";
import type { Policy } from "../../core/hooks/policy.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { AgentMessage, ToolResultMessage } from "../../core/messages/message.ts";
import { type AgentToolResult, textResult } from "../../core/messages/tool_result.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import type { ClientInput, ClientTool } from "./client_input.ts";

/** Name of the policy that ends a run for the client. */
const POLICY = "client tools";

/** Text for the model, until the client replaces it. */
const PLACEHOLDER = "The tool runs in the client of the user. Its result follows.";

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
        takeAnswer(answers, toolCallId) ?? textResult(PLACEHOLDER, { runsInClient: true }),
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

/** Returns the details of a result that the client has sent. Its output must not pass for the details of another tool. */
export function toClientDetails(output?: unknown): Readonly<Record<string, unknown>> {
  return { runsInClient: false, ...(output !== undefined && { output }) };
}

/** Returns the details of a result for a client: the output that it has sent, or those of the tool. */
export function getClientDetails({ details }: Pick<AgentToolResult, "details">): unknown {
  const isOutput = isJsonObject(details) && details["runsInClient"] === false;
  return isOutput ? details["output"] : details;
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

/**
 * Whether a message is the result of a call that the client has not run yet. The names are those of the tools of the
 * client: any other tool may return the same details.
 */
function waitsForClient(message: AgentMessage, names: readonly string[]): boolean {
  return message.role === "tool_result" && names.includes(message.toolName) &&
    isPlaceholder(message);
}

/** Whether a message is the result of a call that the client runs, or has run: it has the message itself. */
export function isKnownToClient(message: AgentMessage, names: readonly string[]): boolean {
  if (message.role !== "tool_result" || !names.includes(message.toolName)) return false;
  const { details } = message;
  return isJsonObject(details) && typeof details["runsInClient"] === "boolean";
}

/** Whether a message is the result of a call that a client has not run yet. */
export function isPlaceholder({ details }: Pick<AgentToolResult, "details">): boolean {
  return isJsonObject(details) && details["runsInClient"] === true;
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

/**
 * Returns the history of an agent with the results of the client in place of the placeholders. Those of the tools of the
 * agent stay, whatever their details are.
 */
export function replaceResults(
  { messages, tools }: Pick<Agent["state"], "messages" | "tools">,
  results: readonly AgentMessage[],
): AgentMessage[] {
  const own = new Set(tools.map(({ name }) => name));
  return messages.map((message) => {
    if (message.role !== "tool_result" || own.has(message.toolName) || !isPlaceholder(message)) {
      return message;
    }
    const { toolCallId } = message;
    const result = results.findLast((result) =>
      result.role === "tool_result" && result.toolCallId === toolCallId
    );
    if (result?.role !== "tool_result") return message;
    const { details: _details, ...kept } = message;
    const { content, isError, details } = result;
    return { ...kept, content, isError, ...(details !== undefined && { details }) };
  });
}
