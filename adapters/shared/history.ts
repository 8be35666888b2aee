/**
 * The conversation as a provider may see it: another provider's opaque marks left out, empty text left out.
 *
 * @module
 */

import type { ContentBlock, ImageBlock, TextBlock } from "../../src/core/content.ts";
import { BadRequestError } from "../../src/core/errors.ts";
import type { AssistantMessage } from "../../src/core/message.ts";
import type { ModelSpec } from "../../src/core/model.ts";

/**
 * Tells whether a reply came from the very model that is asked now. Only then thinking, signatures and provider items
 * mean anything to it; every other model refuses or ignores them.
 */
export function isOwnReply(message: AssistantMessage, model: ModelSpec): boolean {
  return message.provider === model.provider && message.modelId === model.modelId;
}

/** Providers refuse text that is empty or all white space. */
export function hasWords(block: TextBlock): boolean {
  return block.text.trim() !== "";
}

/** The text and image blocks of a user message or a tool result, without empty text. */
export function shownBlocks(content: readonly ContentBlock[]): (TextBlock | ImageBlock)[] {
  const shown: (TextBlock | ImageBlock)[] = [];
  for (const block of content) {
    if (block.type === "image" || (block.type === "text" && hasWords(block))) shown.push(block);
  }
  return shown;
}

/** An image as a URL; bytes become a `data:` URL. */
export function imageUrl(image: ImageBlock): string {
  const { source } = image;
  if (source.type === "url") return source.url;
  if (source.type === "base64") return `data:${source.mediaType};base64,${source.data}`;
  throw unreadFile(source.path);
}

/** An image file can only be read by the host. */
export function unreadFile(path: string): BadRequestError {
  return new BadRequestError(
    `The image file ${path} was not read: give the agent a readFile, or send the image as base64`,
  );
}
