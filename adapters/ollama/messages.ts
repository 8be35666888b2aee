/**
 * The conversation as Ollama takes it.
 *
 * @module
 */

import {
  type ContentBlock,
  extractText,
  type ImageBlock,
  toolCallsOf,
} from "../../src/core/content.ts";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "../../src/core/message.ts";
import type { ModelSpec } from "../../src/core/model.ts";
import { isOwnReply, resultText, shownBlocks, unreadFile } from "../kit/request/history.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { TOOL_NAME_RULE, wireName } from "../kit/request/wire_names.ts";
import type { WireMessage } from "./wire.ts";

/** How a conversation is written. */
export interface MessagesOptions {
  /** The model that is asked. */
  readonly model: ModelSpec;
  /** Hears of what is left out. */
  readonly sink: WarningSink;
}

/** Writes the conversation, without the system prompt. */
export function wireMessages(
  messages: readonly LlmMessage[],
  { model, sink }: MessagesOptions,
): WireMessage[] {
  const wire: WireMessage[] = [];
  // Few templates show the images of a result; those of a user's message, which follows the results, all do.
  let images: ContentBlock[] = [];
  for (const message of messages) {
    if (message.role === "tool_result") {
      images.push(...imagesOf(message));
      wire.push(wireResult(message));
      continue;
    }
    wire.push(...wirePrompt(images, sink));
    images = [];
    wire.push(
      ...message.role === "user" ? wirePrompt(message.content, sink) : wireReply(message, model),
    );
  }
  return [...wire, ...wirePrompt(images, sink)];
}

function wirePrompt(blocks: readonly ContentBlock[], sink: WarningSink): WireMessage[] {
  const texts: string[] = [];
  const images: string[] = [];
  for (const block of shownBlocks(blocks)) {
    const bytes = block.type === "image" ? base64Of(block) : undefined;
    if (block.type === "text") texts.push(block.text);
    else if (bytes !== undefined) images.push(bytes);
    else {
      sink.warning("images_left_out", "Ollama takes no images by their addresses: send the bytes");
      texts.push("(an image that this model cannot see)");
    }
  }
  if (texts.length === 0 && images.length === 0) return [];
  return [{ role: "user", content: texts.join("\n\n"), ...(images.length > 0 && { images }) }];
}

/** The bytes of an image; `undefined` when there is but an address. */
function base64Of({ source }: ImageBlock): string | undefined {
  switch (source.type) {
    case "base64":
      return source.data;
    case "url":
      return /^data:[^,]*;base64,(.*)$/s.exec(source.url)?.[1];
    case "file":
      throw unreadFile(source.path);
  }
}

function imagesOf({ content, toolName }: ToolResultMessage): ContentBlock[] {
  const images = content.filter(({ type }) => type === "image");
  return images.length === 0 ? [] : [{ type: "text", text: `Images from ${toolName}:` }, ...images];
}

function wireResult(message: ToolResultMessage): WireMessage {
  return {
    role: "tool",
    tool_name: wireName(message.toolName, TOOL_NAME_RULE),
    tool_call_id: message.toolCallId,
    content: resultText(message),
  };
}

function wireReply(message: AssistantMessage, model: ModelSpec): WireMessage[] {
  const text = extractText(message.content);
  const calls = toolCallsOf(message.content).map(({ id, name, arguments: args }) => ({
    id,
    function: { name: wireName(name, TOOL_NAME_RULE), arguments: args },
  }));
  if (text.trim() === "" && calls.length === 0) return [];
  const thinking = isOwnReply(message, model) ? thinkingOf(message) : "";
  return [{
    role: "assistant",
    content: text,
    ...(thinking !== "" && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }];
}

function thinkingOf({ content }: AssistantMessage): string {
  return content.flatMap((block) => block.type === "thinking" ? block.thinking : []).join("\n\n");
}
