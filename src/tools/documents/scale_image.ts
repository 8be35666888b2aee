/**
 * Scales images down that are too large for providers.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { requestFromIsolatedWorker } from "./document_worker.ts";
import type { ImageSize } from "./image_header.ts";
import type { ImageReply, ImageRequest } from "./image_worker.ts";

/** A JPEG image. */
export interface ScaledImage extends ImageSize {
  /** Content of the file. */
  readonly bytes: Uint8Array;
}

/** Options for `scaleImage()`. */
export interface ScaleOptions {
  /** Maximum width and height of the result, in pixels. */
  readonly maxPixels: number;
  /** Ends the scaling. */
  readonly signal: AbortSignal;
}

/** Maximum number of pixels of an image that is decoded: its pixels take four bytes each. */
const MAX_DECODED_PIXELS = 100_000_000;

/** Scales an image down to a size. @throws {BadRequestError} When it cannot be decoded. */
export async function scaleImage(
  bytes: Uint8Array,
  { width, height }: ImageSize,
  { maxPixels, signal }: ScaleOptions,
): Promise<ScaledImage> {
  if (width * height > MAX_DECODED_PIXELS) {
    throw new BadRequestError(
      `The image has ${width} × ${height} pixels; at most 100 million are supported: reduce its size first`,
    );
  }
  const request: ImageRequest = { bytes, maxPixels };
  const module = new URL("./image_worker.ts", import.meta.url);
  const options = { subject: "The image", signal };
  const reply = await requestFromIsolatedWorker(module, request, options) as ImageReply; // from our own worker
  if (reply.type === "scaled") return reply;
  throw new BadRequestError(`The image cannot be scaled down: ${reply.reason}`);
}
