/**
 * Conversion of messages: images, empty text, tool results, and data that only one model accepts.
 *
 * @module
 */

import {
  type ContentBlock,
  extractToolCalls,
  type ImageBlock,
  type TextBlock,
} from "../../../src/core/content.ts";
import { BadRequestError } from "../../../src/core/errors.ts";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "../../../src/core/message.ts";
import type { ModelSpec } from "../../../src/core/model.ts";
import { getProviderAliases } from "../../catalog/provider_aliases.ts";
import type { WarningSink } from "./warnings.ts";

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

/** Returns the text and image blocks of a user message or a tool result, without blank text. */
export function getTextAndImages(content: readonly ContentBlock[]): (TextBlock | ImageBlock)[] {
  const blocks: (TextBlock | ImageBlock)[] = [];
  for (const block of content) {
    if (block.type === "image" || (block.type === "text" && hasText(block))) blocks.push(block);
  }
  return blocks;
}

/**
 * Returns the URL of an image, a `data:` URL for base64.
 *
 * @throws {BadRequestError} When the image is a file.
 */
export function toImageUrl(image: ImageBlock): string {
  const { source } = image;
  if (source.type === "url") return source.url;
  if (source.type === "base64") return `data:${source.mediaType};base64,${source.data}`;
  throw createUnreadFileError(source.path);
}

/** Creates the error for an image file that the agent did not read. */
export function createUnreadFileError(path: string): BadRequestError {
  return new BadRequestError(
    `Image file ${path} was not read: pass readFile to the agent, or send the image as base64`,
  );
}

/** Returns the text of a tool result, for providers that accept only text; a placeholder if there is none. */
export function toResultText({ content, isError }: ToolResultMessage): string {
  const blocks = getTextAndImages(content);
  const texts = blocks.flatMap((block) => block.type === "text" ? block.text : []);
  const text = texts.join("\n\n") || (blocks.length > 0 ? "(see the images)" : "(no output)");
  return isError && !/^error/i.test(text) ? `Error: ${text}` : text;
}

/** Replaces images with a note, for a model that does not accept them, and adds a warning. */
export function withoutImages(
  messages: readonly LlmMessage[],
  sink: WarningSink,
): readonly LlmMessage[] {
  let omitted = 0;
  const converted = messages.map((message) => {
    if (!message.content.some(({ type }) => type === "image")) return message;
    const content = message.content.map((block): ContentBlock => {
      if (block.type !== "image") return block;
      omitted++;
      return { type: "text", text: "(an image that this model cannot see)" };
    });
    return { ...message, content };
  });
  if (omitted > 0) {
    sink.warning("images_left_out", `The model does not accept images: ${omitted} omitted`);
  }
  return converted;
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
