/**
 * Converts images for Bedrock, which accepts four formats as bytes or from S3.
 *
 * @module
 */

import type { ImageBlock, ImageSource } from "../../src/core/content.ts";
import { createUnreadFileError } from "../kit/request/history.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import type { WireBlock } from "./wire.ts";

const FORMATS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/jpg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};

/** Converts an image; an unsupported one is replaced by a text, with a warning. */
export function toWireImage({ source }: ImageBlock, sink: WarningSink): WireBlock {
  switch (source.type) {
    case "base64":
      return createImageBlock(source.mediaType, { bytes: source.data }) ??
        omitImage(`Bedrock does not support ${source.mediaType}`, sink);
    case "url":
      return toUrlImage(source, sink);
    case "file":
      throw createUnreadFileError(source.path);
  }
}

function toUrlImage({ url }: Extract<ImageSource, { type: "url" }>, sink: WarningSink): WireBlock {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mediaType !== undefined && data !== undefined) {
    return createImageBlock(mediaType, { bytes: data }) ??
      omitImage(`Bedrock does not support ${mediaType}`, sink);
  }
  if (url.startsWith("s3://")) {
    const extension = /\.(\w+)$/.exec(url)?.[1] ?? "";
    const block = createImageBlock(`image/${extension}`, { s3Location: { uri: url } });
    if (block) return block;
  }
  return omitImage("Bedrock does not fetch URLs; send the image as base64 or from S3", sink);
}

function createImageBlock(mediaType: string, source: object): WireBlock | undefined {
  const format = FORMATS[mediaType.toLowerCase()];
  return format === undefined ? undefined : { image: { format, source } };
}

function omitImage(reason: string, sink: WarningSink): WireBlock {
  sink.warning("images_left_out", `Image omitted: ${reason}`);
  return { text: "(an image that could not be sent)" };
}
