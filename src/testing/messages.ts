/**
 * Creates content blocks and messages with test defaults.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import type {
  ContentBlock,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
} from "../core/messages/content.ts";
import type { AssistantMessage, ToolResultMessage } from "../core/messages/message.ts";
import { zeroCost, zeroUsage } from "../core/models/usage.ts";

/** Creates a text block. */
export function text(
  content: string,
  options: Pick<TextBlock, "signature" | "citations"> = {},
): TextBlock {
  return { type: "text", text: content, ...options };
}

/** Creates a thinking block. */
export function thinking(
  content: string,
  options: Pick<ThinkingBlock, "signature" | "redacted"> = {},
): ThinkingBlock {
  return { type: "thinking", thinking: content, ...options };
}

/** Options for {@linkcode toolCall}. */
export interface ToolCallOptions {
  /** Id of the call. Default: empty, and a scripted stream numbers the call (`call_1`, `call_2`, …). */
  readonly id?: string | undefined;
  /** Opaque token that the provider expects back with the block. */
  readonly signature?: string | undefined;
}

/**
 * Creates a tool call.
 *
 * Arguments given as a string are streamed unchanged, even if they are invalid JSON. In a scripted reply that stops with
 * `length`, such a call is left open, as if the reply was cut off.
 */
export function toolCall(
  name: string,
  args: JsonObject | string = {},
  options: ToolCallOptions = {},
): ToolCallBlock {
  checkObject(options, 'Pass options such as { id: "c1" }');
  checkNames(options, ["id", "signature"], "the tool call");
  const { id = "", signature } = options;
  const token = signature !== undefined && { signature };
  if (typeof args !== "string") return { type: "tool_call", id, name, arguments: args, ...token };
  return { type: "tool_call", id, name, arguments: {}, partialJson: args, ...token };
}

/**
 * Creates an assistant message. Defaults: provider `test`, model `test-model`, no usage, stop reason `tool_use` if it
 * has calls, else `stop`.
 */
export function assistantMessage(
  content: string | readonly ContentBlock[],
  overrides: Partial<Omit<AssistantMessage, "role" | "content">> = {},
): AssistantMessage {
  const blocks = toBlocks(content);
  const hasCalls = blocks.some((block) => block?.type === "tool_call");
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

/** Creates the result message of a tool call. Defaults: not an error, timestamp 0. */
export function toolResultMessage(
  call: Pick<ToolCallBlock, "id" | "name">,
  content: string | readonly ContentBlock[],
  overrides: Partial<
    Omit<ToolResultMessage, "role" | "toolCallId" | "toolName" | "content">
  > = {},
): ToolResultMessage {
  checkObject(call, "Pass the tool call of the result");
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
  if (typeof content === "string") return [text(content)];
  if (Array.isArray(content)) return content;
  throw new BadRequestError(
    `The content must be a text or an array of blocks, not ${describeValue(content)}`,
  );
}
