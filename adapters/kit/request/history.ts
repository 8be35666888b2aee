/**
 * The conversation as a provider may see it: another provider's opaque marks left out, empty text left out.
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
import type { WarningSink } from "./warnings.ts";

/**
 * Tells whether a reply came from the very model that is asked now. Only then thinking, signatures and provider items
 * mean anything to it; every other model refuses or ignores them.
 */
export function isOwnReply(message: AssistantMessage, model: ModelSpec): boolean {
  return message.provider === model.provider && message.modelId === model.modelId;
}

/** Providers refuse text that is empty or all white space. */
export function hasText(block: TextBlock): boolean {
  return block.text.trim() !== "";
}

/** The text and image blocks of a user message or a tool result, without empty text. */
export function getTextAndImages(content: readonly ContentBlock[]): (TextBlock | ImageBlock)[] {
  const shown: (TextBlock | ImageBlock)[] = [];
  for (const block of content) {
    if (block.type === "image" || (block.type === "text" && hasText(block))) shown.push(block);
  }
  return shown;
}

/** An image as a URL; bytes become a `data:` URL. */
export function toImageUrl(image: ImageBlock): string {
  const { source } = image;
  if (source.type === "url") return source.url;
  if (source.type === "base64") return `data:${source.mediaType};base64,${source.data}`;
  throw createUnreadFileError(source.path);
}

/** An image file can only be read by the host. */
export function createUnreadFileError(path: string): BadRequestError {
  return new BadRequestError(
    `The image file ${path} was not read: give the agent a readFile, or send the image as base64`,
  );
}

/** A tool's result as text, for providers that take nothing else; images are told of. */
export function toResultText({ content, isError }: ToolResultMessage): string {
  const shown = getTextAndImages(content);
  const texts = shown.flatMap((block) => block.type === "text" ? block.text : []);
  const text = texts.join("\n\n") || (shown.length > 0 ? "(see the images)" : "(no output)");
  return isError && !/^error/i.test(text) ? `Error: ${text}` : text;
}

/** The conversation for a model that sees no images; each leaves a note in its place. */
export function withoutImages(
  messages: readonly LlmMessage[],
  sink: WarningSink,
): readonly LlmMessage[] {
  let left = 0;
  const shown = messages.map((message) => {
    if (!message.content.some(({ type }) => type === "image")) return message;
    const content = message.content.map((block): ContentBlock => {
      if (block.type !== "image") return block;
      left++;
      return { type: "text", text: "(an image that this model cannot see)" };
    });
    return { ...message, content };
  });
  if (left > 0) sink.warning("images_left_out", `The model sees no images: ${left} left out`);
  return shown;
}

/**
 * The ids of tool calls for a server that is not particular about them: those that the model itself gave stay as they
 * are (Kimi wants its `functions.name:0` back), those of other models are made acceptable.
 */
export function createCallIdEncoder(
  messages: readonly LlmMessage[],
  model: ModelSpec,
  acceptable: (id: string) => string,
): (id: string) => string {
  const own = new Set<string>();
  for (const message of messages) {
    if (message.role !== "assistant" || !isOwnReply(message, model)) continue;
    for (const { id } of extractToolCalls(message.content)) own.add(id);
  }
  return (id) => own.has(id) ? id : acceptable(id);
}
