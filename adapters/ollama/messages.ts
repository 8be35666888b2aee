/**
 * Converts a conversation to Ollama's messages.
 *
 * @module
 */

import {
  type ContentBlock,
  extractText,
  extractToolCalls,
  type ImageBlock,
} from "../../src/core/content.ts";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "../../src/core/message.ts";
import type { ModelSpec } from "../../src/core/model.ts";
import {
  createUnreadFileError,
  getTextAndImages,
  isOwnReply,
  toResultText,
} from "../kit/request/history.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import type { WireMessage } from "./wire.ts";

/** Options for `toWireMessages()`. */
export interface MessagesOptions {
  /** The requested model. */
  readonly model: ModelSpec;
  /** Receives a warning for omitted content. */
  readonly sink: WarningSink;
}

/** Converts a conversation, without the system prompt. */
export function toWireMessages(
  messages: readonly LlmMessage[],
  { model, sink }: MessagesOptions,
): WireMessage[] {
  const wire: WireMessage[] = [];
  // Few prompt templates support images in a tool result, so they are sent in a user message after the results.
  let images: ContentBlock[] = [];
  for (const message of messages) {
    if (message.role === "tool_result") {
      images.push(...getResultImages(message));
      wire.push(toResultMessage(message));
      continue;
    }
    wire.push(...toUserMessages(images, sink));
    images = [];
    wire.push(
      ...message.role === "user"
        ? toUserMessages(message.content, sink)
        : toReplyMessages(message, model),
    );
  }
  return [...wire, ...toUserMessages(images, sink)];
}

function toUserMessages(blocks: readonly ContentBlock[], sink: WarningSink): WireMessage[] {
  const texts: string[] = [];
  const images: string[] = [];
  for (const block of getTextAndImages(blocks)) {
    const data = block.type === "image" ? getBase64(block) : undefined;
    if (block.type === "text") texts.push(block.text);
    else if (data !== undefined) images.push(data);
    else {
      const message = "Image omitted: Ollama does not fetch URLs; send the image as base64";
      sink.warning("images_left_out", message);
      texts.push("(an image that this model cannot see)");
    }
  }
  if (texts.length === 0 && images.length === 0) return [];
  return [{ role: "user", content: texts.join("\n\n"), ...(images.length > 0 && { images }) }];
}

/** Returns the base64 data of an image, or `undefined` for a URL. */
function getBase64({ source }: ImageBlock): string | undefined {
  switch (source.type) {
    case "base64":
      return source.data;
    case "url":
      return /^data:[^,]*;base64,(.*)$/s.exec(source.url)?.[1];
    case "file":
      throw createUnreadFileError(source.path);
  }
}

function getResultImages({ content, toolName }: ToolResultMessage): ContentBlock[] {
  const images = content.filter(({ type }) => type === "image");
  return images.length === 0 ? [] : [{ type: "text", text: `Images from ${toolName}:` }, ...images];
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
