/**
 * The media that a provider may have rejected.
 *
 * @module
 */

import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import { getMediaType, type MediaBlock } from "./media.ts";
import { isNamed, type NamedPart } from "./named_part.ts";
import {
  MEDIA_CODES,
  MEDIA_NAMES,
  type MediaReason,
  type RejectedPart,
  type Suspects,
} from "./rejected_part.ts";
import {
  MAX_NUMBER,
  REJECTED_AUDIO,
  REJECTED_BASE64,
  REJECTED_DOCUMENT,
  REJECTED_FILE,
  REJECTED_IMAGE,
  REJECTED_TYPE,
  REJECTED_URL,
} from "./rejection_patterns.ts";
import { findNewestTurn, getMediaSize, listMedia } from "./request_media.ts";

/** Largest number of images in a request of which Anthropic accepts large ones. */
const MAX_LARGE_IMAGES = 20;

/** The kinds of media that a provider rejects. */
const KINDS: readonly MediaKind[] = [
  {
    reason: "file",
    pattern: REJECTED_FILE,
    includes: ({ source }) => source.type === "provider_file",
  },
  {
    reason: "type",
    pattern: REJECTED_TYPE,
    includes: (block, message) => getMediaType(block) === REJECTED_TYPE.exec(message)?.[1],
  },
  { reason: "url", pattern: REJECTED_URL, includes: ({ source }) => source.type === "url" },
  {
    reason: "base64",
    pattern: REJECTED_BASE64,
    includes: ({ source }) => source.type === "base64",
  },
  { reason: "image", pattern: REJECTED_IMAGE, includes: ({ type }) => type === "image" },
  { reason: "document", pattern: REJECTED_DOCUMENT, includes: ({ type }) => type === "document" },
  { reason: "audio", pattern: REJECTED_AUDIO, includes: ({ type }) => type === "audio" },
];

/** Media of which a provider rejects one. */
interface MediaKind {
  readonly reason: MediaReason;
  readonly pattern: RegExp;
  /** Whether an error that matches the pattern may be about a block. */
  readonly includes: (block: MediaBlock, message: string) => boolean;
}

/** Suspects the media of the first kind that an error is about; `undefined` if the request has none of it. */
export function suspectKind(request: StreamRequest, error: NamedPart): Suspects | undefined {
  const { message } = error;
  const media = listMedia(request, 0);
  for (const { reason, pattern, includes } of KINDS) {
    const isIncluded = (block: MediaBlock) => includes(block, message);
    if (!pattern.test(message) || !media.some(isIncluded)) continue;
    const named = media.filter((block) => isIncluded(block) && isNamed(block, error));
    return suspectMedia(request, { reason, isIncluded, named });
  }
  return undefined;
}

/** Media of a kind of which an error reports one. */
interface SuspectMediaOptions extends Pick<MediaKind, "reason"> {
  readonly isIncluded: (block: MediaBlock) => boolean;
  readonly named: readonly MediaBlock[];
}

/**
 * Suspects the newest media, since earlier requests had the others; then the others, as when a session continues in another
 * process; then all.
 */
function suspectMedia(
  request: StreamRequest,
  { reason, isIncluded, named }: SuspectMediaOptions,
): Suspects {
  const media = listMedia(request, 0).filter(isIncluded);
  const newest = listMedia(request, findNewestTurn(request, isIncluded)).filter(isIncluded);
  const others = media.slice(0, media.length - newest.length);
  return {
    reason,
    named,
    candidates: [newest, ...(others.length > 0 ? [others, media] : [])],
    toWarning: (parts) => {
      const type = findMediaType(parts);
      const text = `The provider rejected ${MEDIA_NAMES[type]}: ${parts.length} omitted`;
      return { code: MEDIA_CODES[type], message: text };
    },
  };
}

/** Returns the type of media in the words of a warning: that of images if there is one, else that of documents. */
function findMediaType(parts: readonly RejectedPart[]): MediaBlock["type"] {
  const types = parts.map((part) => "type" in part ? part.type : undefined);
  return (["image", "document"] as const).find((type) => types.includes(type)) ?? "audio";
}

function findMaxNumber(message: string): number {
  if (message.includes("many-image")) return MAX_LARGE_IMAGES;
  if (/supports one image/i.test(message)) return 1;
  return Number(MAX_NUMBER.exec(message)?.[1] ?? Infinity);
}

/**
 * Suspects the oldest of the media that an error names: about half of those that are accepted, since all requests until the
 * number is reached again can have the same prompt; then all of them, since the pages of documents count, too; then all media.
 */
export function suspectOldMedia(request: StreamRequest, message: string): Suspects {
  const isCounted = ({ type }: MediaBlock) =>
    /\bmedia\b/i.test(message) || message.toLowerCase().includes(type);
  const media = listMedia(request, 0);
  const counted = media.filter(isCounted);
  const max = Math.min(findMaxNumber(message), counted.length);
  const newest = listMedia(request, findNewestTurn(request, isCounted)).filter(isCounted);
  const kept = Math.min(max, Math.max(Math.floor(max / 2), newest.length));
  const candidates = [counted.slice(0, counted.length - kept), counted, media];
  return {
    reason: "number",
    candidates: selectGrowing(candidates),
    toWarning: (parts) => ({
      code: MEDIA_CODES[findMediaType(parts)],
      message: `The provider rejected the number of images and documents: ${parts.length} omitted`,
    }),
  };
}

/**
 * Suspects the oldest media, until half of their size is left, since all requests until the limit is reached again can have
 * the same prompt; then all but the newest; then the newest; then all.
 */
export function suspectLargeMedia(request: StreamRequest): Suspects {
  const media = listMedia(request, 0);
  const half = getMediaSize(media) / 2;
  const start = media.findIndex((_, index) => getMediaSize(media.slice(index)) <= half);
  const newest = listMedia(request, findNewestTurn(request, () => true));
  const oldest = media.slice(0, start);
  const others = media.slice(0, media.length - newest.length);
  return {
    reason: "size",
    candidates: others.length > 0
      ? [...selectGrowing([oldest, others]), newest, media]
      : [oldest, media],
    toWarning: (parts) => ({
      code: MEDIA_CODES[findMediaType(parts)],
      message: `The provider rejected the size of images and documents: ${parts.length} omitted`,
    }),
  };
}

/** Returns the candidates that are more than all earlier ones. */
function selectGrowing(candidates: readonly (readonly MediaBlock[])[]): (readonly MediaBlock[])[] {
  return candidates.filter(({ length }, index) =>
    candidates.slice(0, index).every((earlier) => earlier.length < length)
  );
}
