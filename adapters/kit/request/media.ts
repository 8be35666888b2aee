/**
 * Images, documents and audio clips in requests.
 *
 * @module
 */

import { BadRequestError } from "../../../src/core/errors/errors.ts";
import type { AudioBlock, DocumentBlock, ImageBlock } from "../../../src/core/messages/content.ts";

/** An image, a document or an audio clip. */
export type MediaBlock = ImageBlock | DocumentBlock | AudioBlock;

/** Returns the media type of a block, or `undefined` for an image at a URL. */
export function getMediaType(block: MediaBlock): string | undefined {
  if (block.type !== "image") return block.mediaType;
  return block.source.type === "base64" ? block.source.mediaType : undefined;
}

/**
 * Returns the URL of a block, a `data:` URL for base64.
 *
 * @throws {BadRequestError} When the source is a file.
 */
export function toMediaUrl(block: MediaBlock): string {
  const { source } = block;
  switch (source.type) {
    case "url":
      return source.url;
    case "base64":
      return `data:${getMediaType(block)};base64,${source.data}`;
    case "file":
      throw createUnreadFileError(block, source.path);
    case "provider_file":
      return source.id;
  }
}

/** Creates the error for a file that the agent did not read. */
export function createUnreadFileError({ type }: MediaBlock, path: string): BadRequestError {
  return new BadRequestError(
    `The ${type} file ${path} was not read: pass readFile to the agent, or send it as base64`,
  );
}

/** Returns a name with a file extension, which some providers require. */
export function getFileName({ name, mediaType }: DocumentBlock): string {
  const extension = mediaType === "application/pdf" ? "pdf" : "txt";
  if (!name?.trim()) return `document.${extension}`;
  return /\.\w+$/.test(name) ? name : `${name}.${extension}`;
}
