/**
 * Parts of requests that a provider rejects, so that every further request would fail: images and documents that are damaged,
 * too large or too many, the thinking, signatures and provider items of replies of another account or gateway, and the
 * summaries of thinking that OpenAI has only for verified accounts. Loaded when a request fails.
 *
 * @module
 */

import type { ContentBlock, DocumentBlock, ImageBlock } from "../../../src/core/content.ts";
import { AgentError } from "../../../src/core/errors.ts";
import type { AssistantMessage, LlmMessage } from "../../../src/core/message.ts";
import type { ModelSpec } from "../../../src/core/model.ts";
import type { StreamRequest } from "../../../src/core/stream.ts";
import { isOwnReply } from "./history.ts";
import type { WarningSink } from "./warnings.ts";

/**
 * Matches errors about the thinking of replies: "The encrypted content gAAA… could not be verified" of OpenAI, "Invalid
 * `signature` in `thinking` block" of Anthropic and "Thought signature is not valid" of Google.
 */
const REJECTED_THINKING =
  /encrypted[ _]content|invalid [`'"]?(?:signature|data)[`'"]? in [`'"]?(?:redacted_)?thinking|thought[ _]?signature|thinking[`'"]? blocks .*cannot be modified/i;

/**
 * Matches errors about images: "At least one of the image dimensions exceed max allowed size: 8000 pixels", "image exceeds 5 MB
 * maximum" and "Could not process image" of Anthropic and Bedrock, "The image data you provided does not represent a valid
 * image" and "You uploaded an unsupported image" of OpenAI, "Unable to process input image" of Google and the like.
 */
const REJECTED_IMAGE =
  /image (?:dimensions|exceeds|data|format|size|type|mime|was specified|does not match|cannot be empty|is (?:not valid|invalid|corrupt)|(?:is )?too (?:large|small|big)|(?:length|width|height) and)|\bimage\.source|(?:process|decode|load|identify)(?: input| the| an)? image|(?:valid|unsupported|corrupt(?:ed)?) image\b|invalid '[^']*image_url|invalid_image|image_(?:parse|too)|resize the image|support images (?:larger|smaller|of type)|(?:animated|gif|webp|svg|bmp|tiff|heic|avif) images? (?:is |are )?not supported/i;

/**
 * Matches errors about documents: "The PDF specified was not valid", "The PDF specified is password protected" and "A maximum of
 * 100 PDF pages may be provided" of Anthropic and Bedrock, and "The document has no pages" of Google.
 */
const REJECTED_DOCUMENT =
  /PDF (?:specified|pages|cannot be empty|is too large)|\b(?:pdf|document)\.source|(?:process|decode|parse|read)(?: the| an?)? (?:PDF|document)\b|document has no pages|(?:corrupt(?:ed)?|password[- ]protected) (?:PDF|document)/i;

/**
 * Matches errors about a URL that no longer leads to the image or document: "Error while downloading https://…" of OpenAI,
 * "Unable to download the file" of Anthropic and "Cannot fetch content from the provided URL" of Google; and of servers that
 * download nothing: "image URLs are not currently supported" of Ollama and "'url' field must be a base64 encoded image" of LM Studio.
 */
const REJECTED_URL =
  /while downloading|(?:unable to|cannot|could not|failed to) (?:download|fetch)|failed_to_download|image urls? (?:is |are )?not|support image urls?\b|must be a base64/i;

/**
 * Matches errors about a file of the provider that has expired: "You do not have permission to access the File abc or it may not
 * exist" of Google, after 48 hours, "File not found: file_1" of Anthropic and "No such File object: file-1" of OpenAI.
 */
const REJECTED_FILE =
  /access the file|no such file|file not found|\bfile [\w-]+ (?:was |is |has )?(?:not found|expired|does not exist)/i;

/** Matches errors about base64: "Invalid base64 image_url" of OpenAI and "Base64 decoding failed" of Google. */
const REJECTED_BASE64 = /invalid base64|base64 decoding failed/i;

/**
 * Matches errors about the number of images and documents: "too many images and documents: 21 + 0 > 20", "Too much media: 0
 * document pages + 107 images > 100" and the size of images "for many-image requests" of Anthropic and Bedrock, "Too many images
 * in request. Max is 10." of OpenAI, "At most 5 image(s) may be provided in one request" of vLLM, and "request contains 52
 * images, exceeding the maximum of 50" of others.
 */
const TOO_MANY =
  /too (?:many|much) (?:images?|documents?|media)\b|many-image requests|at most \d+ (?:image|document)|contains \d+ (?:image|document)s/i;

/**
 * Matches errors of models that accept no images, with any status: "No endpoints found that support image input" of OpenRouter,
 * "image input is not supported" of llama.cpp, "Model does not support images" and "Vision add-on is not loaded" of LM Studio, "is
 * not a multimodal model" of vLLM, "image_url is only supported by certain models" of OpenAI, and "content must be a string" of
 * Groq.
 */
const WITHOUT_VISION =
  /support (?:the )?image(?!\/| (?:url|type|format|mime|size|dimension)|s (?:larger|smaller|of type))|(?<!(?:animated|gif|webp|svg|bmp|tiff|heic|avif) )images? (?:inputs? )?(?:is |are )?not (?:supported|enabled)|not support (?:vision|multimodal)|not a (?:multimodal|vision) model|vision add-on is not loaded|required for image input|at most 0 image|only supports? text|image_url[`'"]? is (?:not|only) supported|unknown variant [`'"]?image_url|content[`'"]? ?(?:must be|: value must be) a string/i;

/** Matches the error "Your organization must be verified to generate reasoning summaries" of OpenAI, about `reasoning.summary`. */
const REJECTED_SUMMARY = /reasoning summaries|reasoning\.summary/i;

/** Matches the largest number that such an error reports. */
const MAX_NUMBER = /(?:>|at most|max(?:imum)?(?: is| of)?|up to)\s*(\d+)/i;

/** Largest number of images in a request of which Anthropic accepts large ones. */
const MAX_LARGE_IMAGES = 20;

/** The kinds of media that a provider rejects. */
const KINDS: readonly MediaKind[] = [
  {
    reason: "file",
    pattern: REJECTED_FILE,
    includes: ({ source }) => source.type === "provider_file",
  },
  { reason: "url", pattern: REJECTED_URL, includes: ({ source }) => source.type === "url" },
  {
    reason: "base64",
    pattern: REJECTED_BASE64,
    includes: ({ source }) => source.type === "base64",
  },
  { reason: "image", pattern: REJECTED_IMAGE, includes: ({ type }) => type === "image" },
  { reason: "document", pattern: REJECTED_DOCUMENT, includes: ({ type }) => type === "document" },
];

/** Media of which a provider rejects one. */
interface MediaKind {
  readonly reason: "file" | "url" | "base64" | "image" | "document";
  readonly pattern: RegExp;
  readonly includes: (block: RejectedMedia) => boolean;
}

/** Codes of warnings about media. */
const MEDIA_CODES = { image: "images_left_out", document: "documents_left_out" } as const;

/** Text in place of an image for a model that accepts none. */
const UNSEEN_IMAGE = { type: "text", text: "(an image that this model cannot see)" } as const;

/** Names of media in texts that replace them. */
const NAMES = { image: "an image", document: "a document" } as const;

type RejectedMedia = ImageBlock | DocumentBlock;

/** The option for summaries of thinking. */
const SUMMARY = { type: "reasoning_summary" } as const;

/** All images, for a model that accepts none. */
const ALL_IMAGES = { type: "all_images" } as const;

/** Parts of all requests for a model. */
type ModelPart = typeof SUMMARY | typeof ALL_IMAGES;

/** A part of a request that a provider may reject: of a reply, its thinking, signatures and provider items. */
type RejectedPart = AssistantMessage | RejectedMedia | ModelPart;

/** A warning about content that was left out. */
interface Warning {
  readonly code: string;
  readonly message: string;
}

/** Content that may be what a provider rejects, with the kind of the content; `number` is that of images and documents. */
interface Suspects {
  readonly reason: "thinking" | "summary" | "vision" | "number" | MediaKind["reason"];
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
  readonly #attempts = new Map<Suspects["reason"], number>();
  readonly #omitted = new Map<Suspects["reason"], readonly RejectedPart[]>();
  readonly #warnings = new Map<Suspects["reason"], Warning>();

  constructor(request: StreamRequest) {
    this.#request = request;
  }

  /** The warnings about what is left out. */
  get warnings(): readonly Warning[] {
    return [...this.#warnings.values()];
  }

  /** The parts that are left out. */
  get omitted(): readonly RejectedPart[] {
    return [...this.#omitted.values()].flat();
  }

  /** Returns the request without what an error may be about; `undefined` if nothing of it is left. */
  reduce(error: unknown): StreamRequest | undefined {
    const suspects = AgentError.is(error) && findSuspects(error, this.#request);
    if (!suspects) return undefined;
    const { reason, candidates, toWarning } = suspects;
    const attempt = this.#attempts.get(reason) ?? 0;
    const parts = candidates.filter(({ length }) => length > 0)[attempt];
    if (!parts) return undefined;
    this.#attempts.set(reason, attempt + 1);
    this.#omitted.set(reason, parts);
    this.#warnings.set(reason, toWarning(parts));
    const omitted = new Set(this.omitted);
    return reduce(this.#request, (part) => omitted.has(part));
  }
}

function findSuspects(
  { code, message }: AgentError,
  request: StreamRequest,
): Suspects | undefined {
  if (code !== "model_throttled" && WITHOUT_VISION.test(message)) return suspectVision(request);
  const isAboutRequest = code === "bad_request" || REJECTED_FILE.test(message);
  if (!isAboutRequest) return undefined;
  if (REJECTED_THINKING.test(message)) return suspectThinking(request);
  if (REJECTED_SUMMARY.test(message)) return suspectSummary(request);
  if (TOO_MANY.test(message)) return suspectOldMedia(request, message);
  const media = listMedia(request, 0);
  const kind = KINDS.find(({ pattern, includes }) => pattern.test(message) && media.some(includes));
  return kind && suspectMedia(request, kind);
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

/**
 * Suspects the newest media, since earlier requests had the others; then the others, as when a session continues in another
 * process; then all.
 */
function suspectMedia(request: StreamRequest, { reason, includes }: MediaKind): Suspects {
  const media = listMedia(request, 0).filter(includes);
  const newest = listMedia(request, findNewestTurn(request, includes)).filter(includes);
  const others = media.slice(0, media.length - newest.length);
  return {
    reason,
    candidates: others.length > 0 ? [newest, others, media] : [newest],
    toWarning: (parts) => {
      const type = findMediaType(parts);
      const message = `The provider rejected ${NAMES[type]}: ${parts.length} omitted`;
      return { code: MEDIA_CODES[type], message };
    },
  };
}

/** Returns the type of media in the words of a warning: that of images if there is one. */
function findMediaType(parts: readonly RejectedPart[]): RejectedMedia["type"] {
  return parts.some((part) => "type" in part && part.type === "image") ? "image" : "document";
}

function findMaxNumber(message: string): number {
  if (message.includes("many-image")) return MAX_LARGE_IMAGES;
  return Number(MAX_NUMBER.exec(message)?.[1] ?? Infinity);
}

/**
 * Suspects the oldest of the media that an error names: about half of those that are accepted, since all requests until the
 * number is reached again can have the same prompt; then all of them, since the pages of documents count, too; then all media.
 */
function suspectOldMedia(request: StreamRequest, message: string): Suspects {
  const isCounted = ({ type }: RejectedMedia) =>
    /\bmedia\b/i.test(message) || message.toLowerCase().includes(type);
  const media = listMedia(request, 0);
  const counted = media.filter(isCounted);
  const max = Math.min(findMaxNumber(message), counted.length);
  const newest = listMedia(request, findNewestTurn(request, isCounted)).filter(isCounted);
  const kept = Math.min(max, Math.max(Math.floor(max / 2), newest.length));
  const candidates = [counted.slice(0, counted.length - kept), counted, media];
  return {
    reason: "number",
    candidates: candidates.filter(({ length }, index) =>
      length > (candidates[index - 1]?.length ?? 0)
    ),
    toWarning: (parts) => ({
      code: MEDIA_CODES[findMediaType(parts)],
      message: `The provider rejected the number of images and documents: ${parts.length} omitted`,
    }),
  };
}

/** Returns the index of the first message after the reply before the newest media. */
function findNewestTurn(
  { context: { messages } }: StreamRequest,
  includes: (block: RejectedMedia) => boolean,
): number {
  const last = messages.findLastIndex((message) => findMedia(message).some(includes));
  return messages.slice(0, Math.max(last, 0)).findLastIndex(({ role }) => role === "assistant") + 1;
}

/** Returns the images and documents of the messages from an index on. */
function listMedia({ context }: StreamRequest, start: number): RejectedMedia[] {
  return context.messages.slice(start).flatMap(findMedia);
}

function listImages(request: StreamRequest): RejectedMedia[] {
  return listMedia(request, 0).filter(({ type }) => type === "image");
}

function reduce(
  request: StreamRequest,
  isRejected: (part: RejectedPart) => boolean,
): StreamRequest {
  const { context, options } = request;
  const isBlind = isRejected(ALL_IMAGES);
  const isOmitted = (block: RejectedMedia) =>
    isRejected(block) || (isBlind && block.type === "image");
  const adaptBlock = (block: ContentBlock): ContentBlock => {
    if (!isMedia(block) || !isOmitted(block)) return block;
    if (isBlind && block.type === "image") return UNSEEN_IMAGE;
    const text = `(${NAMES[block.type]} that the provider rejected: it is damaged, too large, ` +
      "one too many or no longer available)";
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

function findMedia(message: LlmMessage): RejectedMedia[] {
  return message.role === "assistant" ? [] : message.content.filter(isMedia);
}

function isMedia(block: ContentBlock): block is RejectedMedia {
  return block.type === "image" || block.type === "document";
}

function hasReasoning({ content }: AssistantMessage): boolean {
  return content.some((block) =>
    block.type === "thinking" || block.type === "extension" ||
    ("signature" in block && block.signature !== undefined)
  );
}
