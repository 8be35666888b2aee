/**
 * Images as Bedrock takes them: bytes of four formats, or what lies in S3.
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

/** Writes an image; one that Bedrock cannot take leaves a note in its place, and a warning. */
export function toWireImage({ source }: ImageBlock, sink: WarningSink): WireBlock {
  switch (source.type) {
    case "base64":
      return createImageBlock(source.mediaType, { bytes: source.data }) ??
        omitImage(`Bedrock takes no ${source.mediaType}`, sink);
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
      omitImage(`Bedrock takes no ${mediaType}`, sink);
  }
  if (url.startsWith("s3://")) {
    const stored = createImageBlock(guessMediaType(url), { s3Location: { uri: url } });
    if (stored) return stored;
  }
  return omitImage("Bedrock fetches no images from URLs", sink);
}

function createImageBlock(mediaType: string, source: object): WireBlock | undefined {
  const format = FORMATS[mediaType.toLowerCase()];
  return format === undefined ? undefined : { image: { format, source } };
}

function guessMediaType(url: string): string {
  return `image/${/\.(\w+)$/.exec(url)?.[1] ?? ""}`;
}

function omitImage(why: string, sink: WarningSink): WireBlock {
  sink.warning("images_left_out", why);
  return { text: "(an image that could not be sent)" };
}
