/**
 * Short constructors of blocks and messages.
 *
 * @module
 */

import type { ContentBlock, TextBlock, ThinkingBlock, ToolCallBlock } from "../core/content.ts";
import type { JsonObject } from "../core/json.ts";
import type { AssistantMessage, ToolResultMessage } from "../core/message.ts";
import { zeroCost, zeroUsage } from "../core/usage.ts";

/** Makes a text block. */
export function text(content: string, options: Pick<TextBlock, "signature"> = {}): TextBlock {
  return { type: "text", text: content, ...options };
}

/** Makes a thinking block. */
export function thinking(
  content: string,
  options: Pick<ThinkingBlock, "signature" | "redacted"> = {},
): ThinkingBlock {
  return { type: "thinking", thinking: content, ...options };
}

/** What a {@linkcode toolCall} may have besides its name and arguments. */
export interface ToolCallOptions {
  /** Id of the call. Default: none, and a scripted stream numbers it (`call_1`, `call_2`, …). */
  readonly id?: string;
  /** An opaque mark that the provider wants back with the block. */
  readonly signature?: string;
}

/**
 * Makes a tool call.
 *
 * Arguments given as a text are sent as they are, broken JSON included. In a scripted reply that stops with
 * `length`, such a call stays open: it was cut off.
 */
export function toolCall(
  name: string,
  args: JsonObject | string = {},
  options: ToolCallOptions = {},
): ToolCallBlock {
  const { id = "", ...rest } = options;
  if (typeof args !== "string") return { type: "tool_call", id, name, arguments: args, ...rest };
  return { type: "tool_call", id, name, arguments: {}, partialJson: args, ...rest };
}

/** Makes a finished assistant message; whatever is not given is empty, zero or a test's name. */
export function assistantMessage(
  content: string | readonly ContentBlock[],
  overrides: Partial<Omit<AssistantMessage, "role" | "content">> = {},
): AssistantMessage {
  const blocks = toBlocks(content);
  const hasCalls = blocks.some((block) => block.type === "tool_call");
  return {
    role: "assistant",
    content: blocks,
    provider: "test",
    modelId: "test-model",
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: hasCalls ? "tool_use" : "stop",
    timestamp: 0,
    ...overrides,
  };
}

/** Makes the message that answers a tool call. */
export function toolResultMessage(
  call: Pick<ToolCallBlock, "id" | "name">,
  content: string | readonly ContentBlock[],
  overrides: Partial<Pick<ToolResultMessage, "isError" | "details" | "timestamp">> = {},
): ToolResultMessage {
  return {
    role: "tool_result",
    toolCallId: call.id,
    toolName: call.name,
    content: toBlocks(content),
    isError: false,
    timestamp: 0,
    ...overrides,
  };
}

function toBlocks(content: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof content === "string" ? [text(content)] : content;
}
