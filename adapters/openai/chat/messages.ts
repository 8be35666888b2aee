/**
 * Conversion of messages for the chat completions API.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import {
  type ContentBlock,
  extractText,
  extractToolCalls,
  type TextBlock,
} from "../../../src/core/messages/content.ts";
import type {
  AssistantMessage,
  LlmMessage,
  ToolResultMessage,
} from "../../../src/core/messages/message.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import type { ToolSpec } from "../../../src/core/streams/stream.ts";
import {
  createCallIdEncoder,
  createMediaTitle,
  getTextAndMedia,
  isMedia,
  isOwnReply,
  MISSING_PROMPT,
  toResultText,
} from "../../kit/request/history.ts";
import { serializeJson } from "../../kit/request/json_body.ts";
import type { MediaBlock } from "../../kit/request/media.ts";
import { toClaudeInput } from "../../kit/request/property_names.ts";
import { TOOL_NAME_RULE, toWireName } from "../../kit/request/wire_names.ts";
import { toExtraContent } from "./call_signatures.ts";
import { isClaude } from "./claude.ts";
import type { ChatDialect } from "./dialect.ts";
import { toChatPart } from "./media.ts";
import { findThoughtfulReplies, toReasoningFields } from "./reasoning_fields.ts";
import type { WireMessage } from "./wire.ts";

/** Options for `toChatMessages()`. */
export interface ChatMessagesOptions {
  /** Model of the request. */
  readonly model: ModelSpec;
  /** Dialect of the server. */
  readonly dialect: ChatDialect;
  /** The tools of the request. */
  readonly tools: readonly ToolSpec[];
}

/** Converts the conversation, without the system prompt. */
export function toChatMessages(
  messages: readonly LlmMessage[],
  options: ChatMessagesOptions,
): WireMessage[] {
  const wire: WireMessage[] = [];
  // Tool results contain only text; their media follow in a user message after the last result of a batch.
  let media: JsonObject[] = [];
  const { model, dialect } = options;
  const thoughtfulReplies = findThoughtfulReplies(messages);
  const encodeCallId = dialect.keepsCallIds
    ? createCallIdEncoder(messages, model, dialect.encodeCallId)
    : dialect.encodeCallId;
  for (const [index, message] of messages.entries()) {
    if (message.role !== "tool_result" && media.length > 0) {
      wire.push({ role: "user", content: media });
      media = [];
    }
    if (message.role === "tool_result") media.push(...toMediaParts(message, dialect));
    const converted = toWireMessage(message, {
      ...options,
      encodeCallId,
      keepsReasoning: thoughtfulReplies.has(index),
    });
    if (converted) wire.push(converted);
  }
  if (media.length > 0) wire.push({ role: "user", content: media });
  return wire.length > 0 ? wire : [{ role: "user", content: MISSING_PROMPT }];
}

interface MessageOptions extends ChatMessagesOptions {
  /** Encodes the id of a tool call. */
  readonly encodeCallId: (id: string) => string;
  /** Whether the message is a reply whose `reasoning_content` is sent back. */
  readonly keepsReasoning: boolean;
}

function toWireMessage(message: LlmMessage, options: MessageOptions): WireMessage | undefined {
  switch (message.role) {
    case "user":
      return toUserMessage(message.content, options.dialect);
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

/** Converts text to a string, which every server accepts, and other content to parts. */
function toUserMessage(
  content: readonly ContentBlock[],
  dialect: ChatDialect,
): WireMessage | undefined {
  const blocks = getTextAndMedia(content);
  if (blocks.length === 0) return undefined;
  const isText = blocks.every(({ type }) => type === "text");
  const text = blocks.flatMap((block) => block.type === "text" ? block.text : []).join("\n\n");
  return {
    role: "user",
    content: isText ? text : blocks.map((block) => toWirePart(block, dialect)),
  };
}

function toWirePart(
  block: TextBlock | MediaBlock,
  { toMediaPart = toChatPart }: ChatDialect,
): JsonObject {
  return block.type === "text" ? { type: "text", text: block.text } : toMediaPart(block);
}

function toMediaParts(message: ToolResultMessage, dialect: ChatDialect): JsonObject[] {
  const media = message.content.filter(isMedia);
  if (media.length === 0) return [];
  return [createMediaTitle(media, message), ...media].map((block) => toWirePart(block, dialect));
}

function toAssistantMessage(
  message: AssistantMessage,
  options: MessageOptions,
): WireMessage | undefined {
  const text = extractText(message.content);
  const renamedTools = isClaude(options.model) ? options.tools : [];
  const isOwn = isOwnReply(message, options.model);
  const calls = extractToolCalls(message.content).map(
    ({ id, name, arguments: args, signature }) => {
      const input = toClaudeInput(args, renamedTools.find((tool) => tool.name === name));
      return {
        id: options.encodeCallId(id),
        type: "function",
        function: { name: toWireName(name, TOOL_NAME_RULE), arguments: serializeJson(input) },
        ...(isOwn && toExtraContent(signature)),
      };
    },
  );
  if (text.trim() === "" && calls.length === 0) return undefined;
  return {
    role: "assistant",
    content: text.trim() === "" ? null : text,
    ...toReasoningFields(message, options),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}
