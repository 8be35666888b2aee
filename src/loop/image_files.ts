/**
 * Reads the image files of messages before they are sent to a model.
 *
 * @module
 */

import type { ContentBlock, ImageBlock } from "../core/content.ts";
import { BadRequestError, getErrorMessage } from "../core/errors.ts";
import type { LlmMessage } from "../core/message.ts";
import type { ReadFile } from "../core/ports.ts";

/** Whether a message has an image whose source is a file. */
export function hasImageFile(message: LlmMessage): boolean {
  return message.role !== "assistant" && message.content.some(isImageFile);
}

/**
 * Replaces the `file` sources of images with `base64` sources.
 *
 * @throws {BadRequestError} If a file cannot be read, or no `readFile` port is configured.
 */
export async function readImageFiles(
  messages: readonly LlmMessage[],
  readFile: ReadFile | undefined,
): Promise<LlmMessage[]> {
  return await Promise.all(
    messages.map(async (message) => {
      if (!hasImageFile(message)) return message;
      const content = await Promise.all(
        message.content.map((block) => isImageFile(block) ? readImage(block, readFile) : block),
      );
      return { ...message, content };
    }),
  );
}

type ImageFileBlock = ImageBlock & { readonly source: { readonly type: "file" } };

function isImageFile(block: ContentBlock): block is ImageFileBlock {
  return block.type === "image" && block.source.type === "file";
}

async function readImage(
  block: ImageFileBlock,
  readFile: ReadFile | undefined,
): Promise<ImageBlock> {
  const { path, mediaType = guessMediaType(path) } = block.source;
  if (!readFile) {
    throw new BadRequestError(
      `Cannot read the image "${path}": no readFile port is configured: pass \`readFile\`, or pass the image as base64`,
    );
  }
  try {
    const data = toBase64(await readFile(path));
    return { type: "image", source: { type: "base64", mediaType, data } };
  } catch (cause) {
    throw new BadRequestError(`Cannot read the image "${path}": ${getErrorMessage(cause)}`, {
      cause,
    });
  }
}

/** Bytes per call of `String.fromCharCode()`, whose number of arguments engines limit. */
const CHUNK_BYTES = 32_768;

/** Encodes bytes as base64; Node 20 has no `Uint8Array.prototype.toBase64()`. */
function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES));
  }
  return btoa(binary);
}

function guessMediaType(path: string): string {
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return extension === "jpg" ? "image/jpeg" : `image/${extension}`;
}
