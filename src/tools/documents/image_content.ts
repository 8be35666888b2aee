/**
 * Images as content for a model.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { ImageBlock } from "../../core/messages/content.ts";
import { encodeBase64 } from "../../core/text/byte_encoding.ts";
import { formatNumber } from "../../core/text/output_limit.ts";
import { quotePath } from "../files/file_error.ts";
import { type ImageSize, readImageSize } from "./image_header.ts";
import { type ScaledImage, scaleImage } from "./scale_image.ts";

/** Largest image that is sent, in bytes and in pixels of its width or height. */
interface ImageLimit {
  readonly bytes: number;
  readonly pixels: number;
}

/**
 * Larger images are scaled down if possible: Bedrock rejects more bytes, and Anthropic more pixels once a request has more
 * than 20 images. Such an image stays in the conversation, in which all further requests would fail.
 */
const SCALED_ABOVE: ImageLimit = { bytes: 3_750_000, pixels: 2_000 };

/** Larger images are rejected by most providers in any request. */
const REJECTED_ABOVE: ImageLimit = { bytes: 5_000_000, pixels: 8_000 };

/** An image for a model. */
export interface ImageContent {
  /** Format and size of the file, and whether the image is scaled down. */
  readonly description: string;
  /** The image. */
  readonly block: ImageBlock;
}

/** Options for `createImageContent()`. */
export interface ImageContentOptions {
  /** Type by the first bytes of the file. */
  readonly mediaType: string;
  /** Path of the file, for messages. */
  readonly path: string;
  /** Ends the scaling. */
  readonly signal: AbortSignal;
}

/**
 * Creates the content for an image file, scaled down if it is too large for providers.
 *
 * @throws {BadRequestError} If the image is damaged or cannot be scaled.
 */
export async function createImageContent(
  bytes: Uint8Array,
  { mediaType, path, signal }: ImageContentOptions,
): Promise<ImageContent> {
  const size = readImageSize(bytes, mediaType);
  if (!size) {
    throw new BadRequestError(
      `${quotePath(path)} begins like an image (${mediaType}), but is damaged or incomplete`,
    );
  }
  const scaled = exceeds(SCALED_ABOVE, bytes, size)
    ? await scaleIfPossible(bytes, size, signal)
    : undefined;
  const description = `Image ${path}, ${mediaType}, ${size.width} × ${size.height} pixels, ${
    formatNumber(bytes.length)
  } bytes${scaled ? `; shown scaled down to ${scaled.width} × ${scaled.height} pixels` : ""}`;
  const shown = scaled ? { bytes: scaled.bytes, mediaType: "image/jpeg" } : { bytes, mediaType };
  const data = encodeBase64(shown.bytes);
  return {
    description,
    block: { type: "image", source: { type: "base64", mediaType: shown.mediaType, data } },
  };
}

/** Scales an image down; `undefined` when it cannot be decoded, as without the npm package, but may be sent as it is. */
async function scaleIfPossible(
  bytes: Uint8Array,
  size: ImageSize,
  signal: AbortSignal,
): Promise<ScaledImage | undefined> {
  try {
    return await scaleImage(bytes, size, { maxPixels: SCALED_ABOVE.pixels, signal });
  } catch (error) {
    if (signal.aborted || exceeds(REJECTED_ABOVE, bytes, size)) throw error;
    return undefined;
  }
}

function exceeds(limit: ImageLimit, bytes: Uint8Array, { width, height }: ImageSize): boolean {
  return bytes.length > limit.bytes || Math.max(width, height) > limit.pixels;
}
