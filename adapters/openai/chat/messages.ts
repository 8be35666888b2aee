/**
 * The conversation as chat completions take it.
 *
 * @module
 */

import {
  type ContentBlock,
  extractText,
  extractToolCalls,
  type ImageBlock,
  type TextBlock,
} from "../../../src/core/content.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "../../../src/core/message.ts";
import type { ModelSpec } from "../../../src/core/model.ts";
import {
  createCallIdEncoder,
  getTextAndImages,
  isOwnReply,
  toImageUrl,
  toResultText,
} from "../../kit/request/history.ts";
import { serializeJson } from "../../kit/request/json_body.ts";
import { TOOL_NAME_RULE, toWireName } from "../../kit/request/wire_names.ts";
import { REASONING_CONTENT, REASONING_DETAILS } from "./response.ts";
import type { WireMessage } from "./wire.ts";
import { toContentParts } from "./content_parts.ts";
import type { ChatDialect } from "./dialect.ts";

/** How a conversation is written. */
export interface ChatMessagesOptions {
  /** The model that is asked. */
  readonly model: ModelSpec;
  /** How the server speaks. */
  readonly dialect: ChatDialect;
}

/** Writes the conversation, without the system prompt. */
export function toChatMessages(
  messages: readonly LlmMessage[],
  options: ChatMessagesOptions,
): WireMessage[] {
  const wire: WireMessage[] = [];
  // Results are text alone; their images follow in a message of the user's, after the last result of a batch.
  let images: JsonObject[] = [];
  const lastPrompt = messages.findLastIndex(({ role }) => role === "user");
  const { model, dialect } = options;
  const callId = dialect.keepsCallIds
    ? createCallIdEncoder(messages, model, dialect.encodeCallId)
    : dialect.encodeCallId;
  for (const [index, message] of messages.entries()) {
    if (message.role !== "tool_result" && images.length > 0) {
      wire.push({ role: "user", content: images });
      images = [];
    }
    if (message.role === "tool_result") images.push(...toImageParts(message));
    const written = toWireMessage(message, {
      ...options,
      encodeCallId: callId,
      isCurrentTurn: index > lastPrompt,
    });
    if (written) wire.push(written);
  }
  if (images.length > 0) wire.push({ role: "user", content: images });
  return wire;
}

interface MessageOptions extends ChatMessagesOptions {
  /** The id of a call on the wire. */
  readonly encodeCallId: (id: string) => string;
  /** Whether the message belongs to the answer that is being given. */
  readonly isCurrentTurn: boolean;
}

function toWireMessage(message: LlmMessage, options: MessageOptions): WireMessage | undefined {
  switch (message.role) {
    case "user":
      return toUserMessage(message.content);
    case "tool_result":
      return {
        role: "tool",
        tool_call_id: options.encodeCallId(message.toolCallId),
        content: toResultText(message),
      };
    case "assistant":
      return toAssistantMessage(message, options);
  }
}

/** Plain text goes as a string, which every server takes. */
function toUserMessage(content: readonly ContentBlock[]): WireMessage | undefined {
  const shown = getTextAndImages(content);
  if (shown.length === 0) return undefined;
  const isText = shown.every(({ type }) => type === "text");
  const text = shown.flatMap((block) => block.type === "text" ? block.text : []).join("\n\n");
  return { role: "user", content: isText ? text : shown.map(toWirePart) };
}

function toWirePart(block: TextBlock | ImageBlock): JsonObject {
  return block.type === "text"
    ? { type: "text", text: block.text }
    : { type: "image_url", image_url: { url: toImageUrl(block) } };
}

function toImageParts({ content, toolName }: ToolResultMessage): JsonObject[] {
  const images = getTextAndImages(content).filter(({ type }) => type === "image");
  if (images.length === 0) return [];
  return [{ type: "text", text: `Images from ${toolName}:` }, ...images.map(toWirePart)];
}

function toAssistantMessage(
  message: AssistantMessage,
  options: MessageOptions,
): WireMessage | undefined {
  const text = extractText(message.content);
  const calls = extractToolCalls(message.content).map(({ id, name, arguments: args }) => ({
    id: options.encodeCallId(id),
    type: "function",
    function: { name: toWireName(name, TOOL_NAME_RULE), arguments: serializeJson(args) },
  }));
  if (text.trim() === "" && calls.length === 0) return undefined;
  return {
    role: "assistant",
    content: text.trim() === "" ? null : text,
    ...(isOwnReply(message, options.model) && toReasoningFields(message, options)),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Reasoning goes back in the field that it came in; as `reasoning_content` only within the present answer. */
function toReasoningFields(
  { content }: AssistantMessage,
  { isCurrentTurn: answersNow, dialect }: MessageOptions,
): JsonObject {
  if (dialect.hasThinkingParts) return toContentParts(content);
  let reasoning = "";
  let details: unknown;
  for (const block of content) {
    if (block.type === "thinking" && block.signature === REASONING_CONTENT) {
      reasoning += block.thinking;
    }
    if (block.type === "extension" && block.typeName === REASONING_DETAILS) details = block.data;
  }
  return {
    ...(answersNow && reasoning !== "" && { reasoning_content: reasoning }),
    ...(details !== undefined && { reasoning_details: details }),
  };
}
