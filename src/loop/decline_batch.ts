/**
 * Answers the pending tool calls of a reply without running them.
 *
 * @module
 */

import type { PendingBatch } from "../core/approval.ts";
import { extractToolCalls } from "../core/content.ts";
import type { ToolResultMessage } from "../core/message.ts";
import { errorResult } from "../core/tool_result.ts";
import type { RunServices } from "./run_services.ts";
import type { TurnInput } from "./turn_input.ts";

const NOT_APPROVED_TEXT = "Tool call not run: not approved: the conversation went on";

/** Adds the results of declined tool calls to the first input of a run. */
export function addDeclinedResults(
  { history, config }: RunServices,
  { declined, messages, ...input }: TurnInput,
): TurnInput {
  if (!declined) return { messages, ...input };
  const { content } = history.getLastReply();
  const timestamp = config.now();
  const results = extractToolCalls(content).map(({ id, name }) =>
    createDeclinedResult(declined, { toolCallId: id, toolName: name, timestamp })
  );
  return { ...input, messages: [...results, ...messages] };
}

function createDeclinedResult(
  { interruptedCalls = [] }: PendingBatch,
  call: Pick<ToolResultMessage, "toolCallId" | "toolName" | "timestamp">,
): ToolResultMessage {
  const interrupted = interruptedCalls.find(({ toolCallId }) => toolCallId === call.toolCallId);
  const { content, details, isError = false, usage, cost } = interrupted?.result ??
    errorResult(NOT_APPROVED_TEXT);
  return {
    role: "tool_result",
    ...call,
    isError,
    content,
    ...(details !== undefined && { details }),
    ...(usage && { usage }),
    ...(cost && { cost }),
  };
}
