/**
 * Tools that the client of a run has.
 *
 * @module
 */

import type { AgentEndEvent } from "../../core/event.ts";
import { isJsonObject } from "../../core/json.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { Policy } from "../../core/policy.ts";
import type { AgentTool } from "../../core/tool.ts";
import { textResult } from "../../core/tool_result.ts";
import type { AgUiTool } from "./run_input.ts";

/** Name of the policy that ends a run for the client. */
const POLICY = "client tools";

/** Text for the model, until the client replaces it. */
const PLACEHOLDER = "The tool runs in the client of the user. Its result follows.";

/**
 * Returns tools that the client runs. A call ends the run, and the client sends its result with the next one.
 */
export function createClientTools(tools: readonly AgUiTool[]): AgentTool[] {
  return tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
    // The tool runs with the rights of the user, in the client.
    readOnly: true,
    execute: () => Promise.resolve(textResult(PLACEHOLDER, { runsInClient: true })),
  }));
}

/** Ends a run after a turn that calls a tool of the client. */
export const endForClient: Policy = {
  name: POLICY,
  postTurn: ({ toolResults }) =>
    toolResults.some(waitsForClient)
      ? { type: "stop", reason: "the client runs a tool" }
      : undefined,
};

/** Whether a message is the result of a call that the client has not run yet. */
export function waitsForClient(message: AgentMessage): boolean {
  if (message.role !== "tool_result") return false;
  const { details } = message;
  return isJsonObject(details) && details["runsInClient"] === true;
}

/** Returns the ids of the calls for which a run has ended; none if it has ended otherwise. */
export function listClientCalls({ stoppedBy, messages }: AgentEndEvent): string[] {
  if (stoppedBy?.policy !== POLICY) return [];
  return messages.flatMap((message) =>
    message.role === "tool_result" && waitsForClient(message) ? [message.toolCallId] : []
  );
}

/** Returns the history with the results of the client in place of the placeholders. */
export function replaceResults(
  history: readonly AgentMessage[],
  results: readonly AgentMessage[],
): AgentMessage[] {
  return history.map((message) => {
    if (message.role !== "tool_result" || !waitsForClient(message)) return message;
    const { toolCallId } = message;
    const result = results.find((result) =>
      result.role === "tool_result" && result.toolCallId === toolCallId
    );
    if (result?.role !== "tool_result") return message;
    const { details: _details, ...kept } = message;
    return { ...kept, content: result.content, isError: result.isError };
  });
}
