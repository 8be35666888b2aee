/**
 * Answers the pending tool calls of a reply without running them.
 *
 * @module
 */

import type { PendingBatch } from "../../core/approval/approval.ts";
import { extractToolCalls } from "../../core/messages/content.ts";
import { createResultMessage } from "../../core/messages/result_message.ts";
import { type AgentToolResult, errorResult } from "../../core/messages/tool_result.ts";
import type { RunServices } from "../run/run_services.ts";
import type { TurnInput } from "../run/turn_input.ts";

const NOT_APPROVED_TEXT = "Tool call not run: not approved: the conversation went on";

/** Adds the results of declined tool calls to the first input of a run. */
export function addDeclinedResults(
  { history, config }: RunServices,
  { declined, messages, ...input }: TurnInput,
): TurnInput {
  if (!declined) return { messages, ...input };
  const { content } = history.getLastReply();
  const timestamp = config.now();
  const results = extractToolCalls(content).map((call) =>
    createResultMessage(call, getResultWithoutRunning(call.id, declined), timestamp)
  );
  return { ...input, messages: [...results, ...messages] };
}

/** Returns what an interrupted call has returned; a call that never started was not approved. */
function getResultWithoutRunning(
  callId: string,
  { interruptedCalls = [] }: PendingBatch,
): AgentToolResult {
  const interrupted = interruptedCalls.find(({ toolCallId }) => toolCallId === callId);
  return interrupted?.result ?? errorResult(NOT_APPROVED_TEXT);
}
