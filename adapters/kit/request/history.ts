/**
 * Conversion of messages: media, empty text, tool results, and data that only one model accepts.
 *
 * @module
 */

import { isJsonObject } from "../../../src/core/json/json.ts";
import {
  type ContentBlock,
  extractToolCalls,
  type TextBlock,
} from "../../../src/core/messages/content.ts";
import type {
  AssistantMessage,
  LlmMessage,
  ToolResultMessage,
} from "../../../src/core/messages/message.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import { getProviderAliases } from "../../catalog/provider_aliases.ts";
import type { MediaBlock } from "./media.ts";

/** Prompt of a conversation that does not begin with one, as after a compaction. Providers reject such a conversation. */
export const MISSING_PROMPT = "(The conversation goes on.)";

/** Prompt after a reply that the model is to continue, for models that continue no reply at the end of a request. */
export const CONTINUE = "Continue.";

/**
 * Whether a reply came from the given model. Only that model accepts its thinking, signatures and provider items; other
 * models reject or ignore them.
 */
export function isOwnReply(message: AssistantMessage, model: ModelSpec): boolean {
  return message.modelId === model.modelId &&
    getProviderAliases(message.provider).includes(model.provider);
}

/** Whether a block has text other than whitespace, which providers reject. */
export function hasText(block: TextBlock): boolean {
  return block.text.trim() !== "";
}

/** Returns the text, images, documents and audio of a user message or a tool result, without blank text. */
export function getTextAndMedia(content: readonly ContentBlock[]): (TextBlock | MediaBlock)[] {
  return content.filter((block): block is TextBlock | MediaBlock =>
    isMedia(block) || (block.type === "text" && hasText(block))
  );
}

/** The types of the blocks of replies. */
const REPLY_TYPES: readonly string[] = ["text", "thinking", "tool_call", "extension"];

/** Whether a block is one of a reply; a history may have others, of another type or of one that is not known. */
export function isReplyBlock({ type }: ContentBlock): boolean {
  return REPLY_TYPES.includes(type);
}

/** Whether the arguments of a call are an object. Providers reject others, which a resumed history may have. */
export function hasValidArguments(block: ContentBlock): boolean {
  return block.type !== "tool_call" || isJsonObject(block.arguments);
}

/** Whether a block is an image, a document or an audio clip. */
export function isMedia(block: ContentBlock): block is MediaBlock {
  return block.type === "image" || block.type === "document" || block.type === "audio";
}

/** Creates the text before the media of a tool result that a separate message contains. */
export function createMediaTitle(
  media: readonly MediaBlock[],
  { toolName }: ToolResultMessage,
): TextBlock {
  const kind = media.every(({ type }) => type === "image") ? "Images" : "Attachments";
  return { type: "text", text: `${kind} from ${toolName}:` };
}

/** Returns the text of a tool result, for providers that accept only text; a placeholder if there is none. */
export function toResultText({ content, isError }: ToolResultMessage): string {
  const texts = content.flatMap((block) =>
    block.type === "text" && hasText(block) ? block.text : []
  );
  const text = texts.join("\n\n") || describeMedia(content.filter(isMedia));
  return isError && !/^error/i.test(text) ? `Error: ${text}` : text;
}

function describeMedia(media: readonly MediaBlock[]): string {
  if (media.length === 0) return "(no output)";
  return media.every(({ type }) => type === "image") ? "(see the images)" : "(see the attachments)";
}

/**
 * Creates the encoder of call ids for a server that accepts any id. Ids from the same model are unchanged (Kimi needs
 * its `functions.name:0`); ids from other models are encoded with `encodeId`.
 */
export function createCallIdEncoder(
  messages: readonly LlmMessage[],
  model: ModelSpec,
  encodeId: (id: string) => string,
): (id: string) => string {
  const own = new Set<string>();
  for (const message of messages) {
    if (message.role !== "assistant" || !isOwnReply(message, model)) continue;
    for (const { id } of extractToolCalls(message.content)) own.add(id);
  }
  return (id) => own.has(id) ? id : encodeId(id);
}
