/**
 * The result of a tool as a message of the history.
 *
 * @module
 */

import { toValidSpending } from "../models/valid_usage.ts";
import type { ToolCallBlock } from "./content.ts";
import type { ToolResultMessage } from "./message.ts";
import type { AgentToolResult } from "./tool_result.ts";

/** Creates the message that answers a call. Default of the id: none; the loop gives one. */
export function createResultMessage(
  { id, name }: Pick<ToolCallBlock, "id" | "name">,
  result: AgentToolResult,
  timestamp: number,
  messageId?: string,
): ToolResultMessage {
  const { content, details, isError = false } = result;
  return {
    role: "tool_result",
    toolCallId: id,
    toolName: name,
    content,
    isError,
    ...(details !== undefined && { details }),
    ...toValidSpending(result),
    timestamp,
    ...(messageId !== undefined && { id: messageId }),
  };
}
