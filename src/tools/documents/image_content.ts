/**
 * Images as content for a model.
 *
 * @module
 */

import { encodeBase64 } from "../../core/byte_encoding.ts";
import type { ImageBlock } from "../../core/content.ts";
import { BadRequestError } from "../../core/errors.ts";
import { quotePath } from "../files/file_error.ts";
import { formatNumber } from "../../core/output_limit.ts";
import { readImageSize } from "./image_header.ts";
import { scaleImage } from "./scale_image.ts";

/** Providers reject larger images: Bedrock above this size, Anthropic by the length in base64, a third more. */
const MAX_IMAGE_BYTES = 3_750_000;

/**
 * Anthropic rejects images that are wider or higher, once a request has more than 20 images. A single one may have 8,000
 * pixels, but stays in the conversation, in which all further requests would fail.
 */
const MAX_IMAGE_PIXELS = 2_000;

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
  const isTooLarge = bytes.length > MAX_IMAGE_BYTES ||
    Math.max(size.width, size.height) > MAX_IMAGE_PIXELS;
  const scaled = isTooLarge
    ? await scaleImage(bytes, size, { maxPixels: MAX_IMAGE_PIXELS, signal })
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
