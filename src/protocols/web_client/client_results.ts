/**
 * The results of tools that the client of a run has.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { type AgentToolResult, textResult } from "../../core/messages/tool_result.ts";

/**
 * The results of client tools have details of their own, in which `runsInClient` is `true` for a placeholder and `false`
 * for the result that the client has sent.
 */
interface ClientDetails {
  readonly runsInClient: boolean;
  /** The output that the client has sent. */
  readonly output?: unknown;
}

/** Text for the model, until the client replaces it. */
const PLACEHOLDER = "The tool runs in the client of the user. Its result follows.";

/** Creates the result of a call until the client has sent one. */
export function createPlaceholder(): AgentToolResult {
  return textResult(PLACEHOLDER, { runsInClient: true } satisfies ClientDetails);
}

/** Returns the details of a result that the client has sent. Its output must not pass for the details of another tool. */
export function toClientDetails(output?: unknown): ClientDetails {
  return { runsInClient: false, ...(output !== undefined && { output }) };
}

/** Returns the details of a result for a client: the output that it has sent, or those of the tool. */
export function getClientDetails({ details }: Pick<AgentToolResult, "details">): unknown {
  const isOutput = isJsonObject(details) && details["runsInClient"] === false;
  return isOutput ? details["output"] : details;
}

/**
 * Whether a message is the result of a call that the client has not run yet. The names are those of the tools of the
 * client: any other tool may return the same details.
 */
export function waitsForClient(message: AgentMessage, names: readonly string[]): boolean {
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
