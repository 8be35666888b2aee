/**
 * The messages that a client of AG-UI should have.
 *
 * @module
 */

import { type AgentMessage, type ContentBlock, extractText } from "../../mod.ts";
import type { AgUiMessage, AgUiToolCall } from "../../src/protocols/ag_ui/ag_ui_event.ts";
import { toContent } from "../../src/protocols/ag_ui/to_parts.ts";

/** Returns the messages of a client for one message; none for a custom message. */
export function toAgUiMessages(message: AgentMessage): AgUiMessage[] {
  const { id = "" } = message;
  switch (message.role) {
    case "user":
      return [{ role: "user", id, content: toContent(message.content) }];
    case "assistant": {
      const toolCalls = message.content.flatMap(toToolCall);
      const content = extractText(message.content);
      return [{
        role: "assistant",
        id,
        ...(content !== "" && { content }),
        ...(toolCalls.length > 0 && { toolCalls }),
      }];
    }
    case "tool_result": {
      const { toolCallId, content, isError } = message;
      const error = isError && {
        error: extractText(content),
        metadata: { swink: { isError: true } } as const,
      };
      return [{ role: "tool", id, toolCallId, content: toContent(content), ...error }];
    }
    case "custom":
      return [];
  }
}

function toToolCall(block: ContentBlock): AgUiToolCall[] {
  if (block.type !== "tool_call") return [];
  const { id, name } = block;
  return [{ id, type: "function", function: { name, arguments: JSON.stringify(block.arguments) } }];
}
