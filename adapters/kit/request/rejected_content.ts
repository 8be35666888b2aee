/**
 * Parts of requests that a provider rejects, so that every further request would fail: images, documents and audio that
 * are damaged, too large, too many or not accepted, the thinking, signatures and provider items of replies of another
 * account or gateway, and the summaries of thinking that OpenAI has only for verified accounts. Loaded when a request
 * fails.
 *
 * @module
 */

import { AgentError } from "../../../src/core/errors/errors.ts";
import type { ContentBlock } from "../../../src/core/messages/content.ts";
import type { AssistantMessage, LlmMessage } from "../../../src/core/messages/message.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import { isMedia, isOwnReply } from "./history.ts";
import { getMediaType, type MediaBlock } from "./media.ts";
import { findNamedPart, isNamed } from "./named_part.ts";
import {
  MAX_NUMBER,
  REJECTED_AUDIO,
  REJECTED_BASE64,
  REJECTED_DOCUMENT,
  REJECTED_FILE,
  REJECTED_IMAGE,
  REJECTED_SUMMARY,
  REJECTED_THINKING,
  REJECTED_TYPE,
  REJECTED_URL,
  TOO_LARGE,
  TOO_MANY,
  UNUSUAL_STATUS,
  WITHOUT_VISION,
} from "./rejection_patterns.ts";
import { findMedia, findNewestTurn, getMediaSize, listImages, listMedia } from "./request_media.ts";
import type { WarningSink } from "./warnings.ts";

/** Size of the media in a request, in characters of base64, from which on they are a reason for the status 413. */
const MIN_LARGE_MEDIA = 1_000_000;

/** Number of parts after which a request is not sent again only for each further one that an error names. */
const MAX_NAMED = 3;

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
  readonly reason: "file" | "type" | "url" | "base64" | "image" | "document" | "audio";
  readonly pattern: RegExp;
  /** Whether an error that matches the pattern may be about a block. */
  readonly includes: (block: MediaBlock, message: string) => boolean;
}

/** Codes of warnings about media. */
const MEDIA_CODES = {
  image: "images_left_out",
  document: "documents_left_out",
  audio: "audio_left_out",
} as const;

/** Text in place of an image for a model that accepts none. */
const UNSEEN_IMAGE = { type: "text", text: "(an image that this model cannot see)" } as const;

/** Names of media in texts that replace them. */
const NAMES = { image: "an image", document: "a document", audio: "an audio clip" } as const;

/** The option for summaries of thinking. */
const SUMMARY = { type: "reasoning_summary" } as const;

/** All images, for a model that accepts none. */
const ALL_IMAGES = { type: "all_images" } as const;

/** Parts of all requests for a model. */
type ModelPart = typeof SUMMARY | typeof ALL_IMAGES;

/** A part of a request that a provider may reject: of a reply, its thinking, signatures and provider items. */
type RejectedPart = AssistantMessage | MediaBlock | ModelPart;

/** A warning about content that was left out. */
interface Warning {
  readonly code: string;
  readonly message: string;
}

/** Content that may be what a provider rejects, with the kind of the content; `number` and `size` are those of all media. */
interface Suspects {
  readonly reason: "thinking" | "summary" | "vision" | "number" | "size" | MediaKind["reason"];
  /** Parts that the error names. */
  readonly named?: readonly RejectedPart[];
  /** Parts to leave out, the most likely ones first. */
  readonly candidates: readonly (readonly RejectedPart[])[];
  /** Creates the warning about parts that are left out. */
  readonly toWarning: (parts: readonly RejectedPart[]) => Warning;
}

/** The content that a provider is known to reject, by model: another one may accept more or larger images. */
export class RejectedContent {
  readonly #byModel = new Map<string, WeakSet<RejectedPart>>();

  /** Returns a request without the rejected content. Warns once about each image for a model that accepts none. */
  adapt(request: StreamRequest, sink: WarningSink): StreamRequest {
    const rejected = this.#byModel.get(request.model.modelId);
    if (!rejected) return request;
    const images = listImages(request).filter((image) => !rejected.has(image));
    if (rejected.has(ALL_IMAGES) && images.length > 0) {
      const message = `The model does not accept images: ${images.length} omitted`;
      sink.warning(MEDIA_CODES.image, message);
      this.remember(request.model, images);
    }
    return reduce(request, (part) => rejected.has(part));
  }

  /** Remembers parts of a request, so that later requests are adapted at once. */
  remember({ modelId }: ModelSpec, parts: readonly RejectedPart[]): void {
    const rejected = this.#byModel.get(modelId) ?? new WeakSet();
    this.#byModel.set(modelId, rejected);
    for (const part of parts) rejected.add(part);
  }
}

/** Leaves out what a provider rejects in a request, one suspicion after the other. */
export class ContentReducer {
  readonly #request: StreamRequest;
  /** The request without what is left out so far. */
  #reduced: StreamRequest;
  readonly #attempts = new Map<Suspects["reason"], number>();
  readonly #named = new Map<Suspects["reason"], readonly RejectedPart[]>();
  readonly #omitted = new Map<Suspects["reason"], readonly RejectedPart[]>();
  readonly #warnings = new Map<Suspects["reason"], Warning>();

  constructor(request: StreamRequest) {
    this.#request = request;
    this.#reduced = request;
  }

  /** The warnings about what is left out. */
  get warnings(): readonly Warning[] {
    return [...this.#warnings.values()];
  }

  /** The parts that are left out. */
  get omitted(): readonly RejectedPart[] {
    return [...this.#omitted.values()].flat();
  }

  /**
   * Returns the request without what an error may be about; `undefined` if nothing of it is left. An error may contain the path
   * of a part in the body, which is created again.
   */
  async reduce(
    error: unknown,
    createBody: (request: StreamRequest) => Promise<string>,
  ): Promise<StreamRequest | undefined> {
    if (!AgentError.is(error)) return undefined;
    const part = await findNamedPart(error.message, () => createBody(this.#reduced));
    const suspects = findSuspects(error, this.#request, part);
    if (!suspects) return undefined;
    const { reason, toWarning } = suspects;
    const parts = this.#select(suspects);
    if (!parts) return undefined;
    this.#omitted.set(reason, parts);
    this.#warnings.set(reason, toWarning(parts));
    const omitted = new Set(this.omitted);
    this.#reduced = reduce(this.#request, (part) => omitted.has(part));
    return this.#reduced;
  }

  /** Selects what the errors have named; after some errors, the next candidates, too, and only these after one without names. */
  #select({ reason, named = [], candidates }: Suspects): readonly RejectedPart[] | undefined {
    const known = this.#named.get(reason) ?? [];
    const all = [...new Set([...known, ...named])];
    this.#named.set(reason, all);
    if (all.length > known.length && known.length < MAX_NAMED) return all;
    const attempt = this.#attempts.get(reason) ?? 0;
    const parts = candidates.filter(({ length }) => length > 0)[attempt];
    this.#attempts.set(reason, attempt + 1);
    return parts && [...new Set([...named.length > 0 ? all : [], ...parts])];
  }
}

function findSuspects(
  { code, message }: AgentError,
  request: StreamRequest,
  part: string | undefined,
): Suspects | undefined {
  if (code !== "model_throttled" && WITHOUT_VISION.test(message)) return suspectVision(request);
  const isTooLarge = TOO_LARGE.test(message) &&
    (code === "bad_request" || getMediaSize(listMedia(request, 0)) >= MIN_LARGE_MEDIA);
  if (isTooLarge) return suspectLargeMedia(request);
  const isAboutRequest = code === "bad_request" || REJECTED_FILE.test(message) ||
    UNUSUAL_STATUS.test(message);
  if (!isAboutRequest) return undefined;
  if (REJECTED_THINKING.test(message)) return suspectThinking(request);
  if (REJECTED_SUMMARY.test(message)) return suspectSummary(request);
  if (TOO_MANY.test(message)) return suspectOldMedia(request, message);
  const media = listMedia(request, 0);
  for (const { reason, pattern, includes } of KINDS) {
    const isIncluded = (block: MediaBlock) => includes(block, message);
    if (pattern.test(message) && media.some(isIncluded)) {
      const named = media.filter((block) => isIncluded(block) && isNamed(block, { message, part }));
      return suspectMedia(request, { reason, isIncluded, named });
    }
  }
  return undefined;
}

/** Suspects all replies, which become those of another model: it gets nothing but their text and calls. */
function suspectThinking({ context: { messages }, model }: StreamRequest): Suspects {
  const replies = messages.filter((message) => message.role === "assistant");
  const isLeft = replies.some((reply) => isOwnReply(reply, model) && hasReasoning(reply));
  return {
    reason: "thinking",
    candidates: isLeft ? [replies] : [],
    toWarning: () => ({
      code: "thinking_left_out",
      message: "The provider rejected the thinking of earlier replies: it is left out",
    }),
  };
}

function suspectVision(request: StreamRequest): Suspects {
  const images = listImages(request);
  return {
    reason: "vision",
    candidates: images.length > 0 ? [[ALL_IMAGES, ...images]] : [],
    toWarning: () => ({
      code: MEDIA_CODES.image,
      message: "The provider rejected all images: the model accepts none",
    }),
  };
}

function suspectSummary(request: StreamRequest): Suspects {
  return {
    reason: "summary",
    candidates: hasSummary(request) ? [[SUMMARY]] : [],
    toWarning: () => ({
      code: "reasoning_summary_left_out",
      message: "The provider rejected summaries of thinking: replies have none",
    }),
  };
}

/** Whether a request is for replies with summaries of thinking, which is the default. */
function hasSummary({ model, options }: StreamRequest): boolean {
  return model.thinkingLevel !== "off" && options.reasoningSummary !== "off";
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
      const text = `The provider rejected ${NAMES[type]}: ${parts.length} omitted`;
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
function suspectOldMedia(request: StreamRequest, message: string): Suspects {
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
function suspectLargeMedia(request: StreamRequest): Suspects {
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

function reduce(
  request: StreamRequest,
  isRejected: (part: RejectedPart) => boolean,
): StreamRequest {
  const { context, options } = request;
  const isBlind = isRejected(ALL_IMAGES);
  const isOmitted = (block: MediaBlock) => isRejected(block) || (isBlind && block.type === "image");
  const adaptBlock = (block: ContentBlock): ContentBlock => {
    if (!isMedia(block) || !isOmitted(block)) return block;
    if (isBlind && block.type === "image") return UNSEEN_IMAGE;
    const text = `(${NAMES[block.type]} that the provider rejected: it is damaged, too large, ` +
      "one too many, no longer available or not accepted by this model)";
    return { type: "text", text };
  };
  const adapt = (message: LlmMessage): LlmMessage => {
    if (message.role === "assistant") {
      return isRejected(message) ? { ...message, provider: "", modelId: "" } : message;
    }
    return findMedia(message).some(isOmitted)
      ? { ...message, content: message.content.map(adaptBlock) }
      : message;
  };
  return {
    ...request,
    context: { ...context, messages: context.messages.map(adapt) },
    options: hasSummary(request) && isRejected(SUMMARY)
      ? { ...options, reasoningSummary: "off" }
      : options,
  };
}

function hasReasoning({ content }: AssistantMessage): boolean {
  return content.some((block) =>
    block.type === "thinking" || block.type === "extension" ||
    ("signature" in block && block.signature !== undefined)
  );
}
