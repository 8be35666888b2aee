/**
 * Converts a conversation to Ollama's messages.
 *
 * @module
 */

import {
  type ContentBlock,
  extractText,
  extractToolCalls,
} from "../../src/core/messages/content.ts";
import type {
  AssistantMessage,
  LlmMessage,
  ToolResultMessage,
} from "../../src/core/messages/message.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import {
  createMediaTitle,
  getTextAndMedia,
  isMedia,
  isOwnReply,
  MISSING_PROMPT,
  toResultText,
} from "../kit/request/history.ts";
import { TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import type { WireMessage } from "./wire.ts";

/** Converts a conversation, without the system prompt. All images are base64. */
export function toWireMessages(messages: readonly LlmMessage[], model: ModelSpec): WireMessage[] {
  const wire: WireMessage[] = [];
  // Few prompt templates support images in a tool result, so they are sent in a user message after the results.
  let images: ContentBlock[] = [];
  for (const message of messages) {
    if (message.role === "tool_result") {
      images.push(...getResultImages(message));
      wire.push(toResultMessage(message));
      continue;
    }
    wire.push(...toUserMessages(images));
    images = [];
    wire.push(
      ...message.role === "user"
        ? toUserMessages(message.content)
        : toReplyMessages(message, model),
    );
  }
  wire.push(...toUserMessages(images));
  return wire.length > 0 ? wire : [{ role: "user", content: MISSING_PROMPT }];
}

function toUserMessages(blocks: readonly ContentBlock[]): WireMessage[] {
  const accepted = getTextAndMedia(blocks);
  if (accepted.length === 0) return [];
  const texts = accepted.flatMap((block) => block.type === "text" ? block.text : []);
  const images = accepted.flatMap((block) =>
    isMedia(block) && block.source.type === "base64" ? block.source.data : []
  );
  return [{ role: "user", content: texts.join("\n\n"), ...(images.length > 0 && { images }) }];
}

function getResultImages(message: ToolResultMessage): ContentBlock[] {
  const images = message.content.filter(isMedia);
  return images.length === 0 ? [] : [createMediaTitle(images, message), ...images];
}

function toResultMessage(message: ToolResultMessage): WireMessage {
  return {
    role: "tool",
    tool_name: toWireName(message.toolName, TOOL_NAME_RULE),
    tool_call_id: message.toolCallId,
    content: toResultText(message),
  };
}

function toReplyMessages(message: AssistantMessage, model: ModelSpec): WireMessage[] {
  const text = extractText(message.content);
  const calls = extractToolCalls(message.content).map(({ id, name, arguments: args }) => ({
    id,
    function: { name: toWireName(name, TOOL_NAME_RULE), arguments: args },
  }));
  if (text.trim() === "" && calls.length === 0) return [];
  const isOwn = isOwnReply(message, model);
  const thinking = message.content
    .flatMap((block) => isOwn && block.type === "thinking" ? block.thinking : [])
    .join("\n\n");
  return [{
    role: "assistant",
    content: text,
    ...(thinking !== "" && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }];
}
