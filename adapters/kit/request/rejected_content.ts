/**
 * Content of the history that a provider rejects, so that every further request would fail: images and documents that are
 * damaged or too large, and the thinking, signatures and provider items of replies of another account or gateway. Loaded when a request fails.
 *
 * @module
 */

import type { ContentBlock, DocumentBlock, ImageBlock } from "../../../src/core/content.ts";
import { AgentError } from "../../../src/core/errors.ts";
import type { AssistantMessage, LlmMessage } from "../../../src/core/message.ts";
import type { StreamRequest } from "../../../src/core/stream.ts";
import { isOwnReply } from "./history.ts";

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
  /image (?:dimensions|exceeds|data|format|size|was specified|does not match|cannot be empty|(?:is )?too (?:large|small|big)|(?:length|width|height) and)|(?:process|decode|load|identify)(?: input| the| an)? image|(?:valid|unsupported|corrupt(?:ed)?) image\b|invalid_image|image_(?:parse|too)/i;

/**
 * Matches errors about documents: "The PDF specified was not valid", "The PDF specified is password protected" and "A maximum of
 * 100 PDF pages may be provided" of Anthropic and Bedrock, and "The document has no pages" of Google.
 */
const REJECTED_DOCUMENT =
  /PDF (?:specified|pages|cannot be empty|is too large)|(?:process|decode|parse|read)(?: the| an?)? (?:PDF|document)\b|document has no pages|(?:corrupt(?:ed)?|password[- ]protected) (?:PDF|document)/i;

/** The kinds of media that a provider rejects, in the words of warnings. */
const KINDS = [
  { type: "image", pattern: REJECTED_IMAGE, name: "an image", code: "images_left_out" },
  { type: "document", pattern: REJECTED_DOCUMENT, name: "a document", code: "documents_left_out" },
] as const;

type MediaKind = typeof KINDS[number];

type RejectedMedia = ImageBlock | DocumentBlock;

/** A request without content that the provider rejected. */
export interface ReducedRequest {
  /** The request. */
  readonly request: StreamRequest;
  /** Code of the warning about it. */
  readonly code: string;
  /** The warning. */
  readonly message: string;
}

/** The content that a provider is known to reject. */
export class RejectedContent {
  readonly #rejected = new WeakSet<AssistantMessage | RejectedMedia>();

  /** Returns a request without the rejected content. */
  adapt(request: StreamRequest): StreamRequest {
    return reduce(request, (part) => this.#rejected.has(part));
  }

  /** Remembers what is only in the first of two requests, so that later requests are adapted at once. */
  remember({ context }: StreamRequest, reduced: StreamRequest): void {
    context.messages.forEach((message, index) => {
      if (message === reduced.context.messages[index]) return;
      if (message.role === "assistant") this.#rejected.add(message);
      else {for (const block of findRemoved(message, reduced.context.messages[index])) {
          this.#rejected.add(block);
        }}
    });
  }
}

/**
 * Returns a request without what an error is about; `undefined` if it is about something else, or nothing of it is left.
 *
 * @param reduced Whether content is missing already.
 */
export function leaveOutRejected(
  error: unknown,
  request: StreamRequest,
  reduced: boolean,
): ReducedRequest | undefined {
  if (!AgentError.is(error)) return undefined;
  if (REJECTED_THINKING.test(error.message)) return leaveOutThinking(request);
  const kind = KINDS.find(({ pattern }) => pattern.test(error.message));
  return kind && leaveOutMedia(kind, request, reduced);
}

/** Makes the replies those of another model, which gets nothing but their text and calls. */
function leaveOutThinking(request: StreamRequest): ReducedRequest | undefined {
  const { context, model } = request;
  const isLeft = context.messages.some((message) =>
    message.role === "assistant" && isOwnReply(message, model) && hasReasoning(message)
  );
  return isLeft
    ? {
      request: reduce(request, (part) => "role" in part),
      code: "thinking_left_out",
      message: "The provider rejected the thinking of earlier replies: it is left out",
    }
    : undefined;
}

/** Leaves out the newest media, since earlier requests had the others; then all, as when there are too many of a size. */
function leaveOutMedia(
  { type, name, code }: MediaKind,
  request: StreamRequest,
  all: boolean,
): ReducedRequest | undefined {
  const { messages } = request.context;
  const find = (message: LlmMessage) => findMedia(message).filter((block) => block.type === type);
  const last = messages.findLastIndex((message) => find(message).length > 0);
  if (last < 0) return undefined;
  const before = messages.slice(0, last).findLastIndex(({ role }) => role === "assistant");
  const media = new Set<unknown>(messages.slice(all ? 0 : before + 1).flatMap(find));
  const message = `The provider rejected ${name}: ${media.size} omitted`;
  return { request: reduce(request, (part) => media.has(part)), code, message };
}

function reduce(
  request: StreamRequest,
  isRejected: (part: AssistantMessage | RejectedMedia) => boolean,
): StreamRequest {
  const { context } = request;
  const adaptBlock = (block: ContentBlock): ContentBlock => {
    const kind = KINDS.find(({ type }) => block.type === type);
    if (!kind || !isMedia(block) || !isRejected(block)) return block;
    const text = `(${kind.name} that the provider rejected: it is damaged or too large)`;
    return { type: "text", text };
  };
  const adapt = (message: LlmMessage): LlmMessage => {
    if (message.role === "assistant") {
      return isRejected(message) ? { ...message, provider: "", modelId: "" } : message;
    }
    return findMedia(message).some(isRejected)
      ? { ...message, content: message.content.map(adaptBlock) }
      : message;
  };
  return { ...request, context: { ...context, messages: context.messages.map(adapt) } };
}

/** Returns the images and documents of a message that are not in the message without the rejected ones. */
function findRemoved(message: LlmMessage, reduced: LlmMessage | undefined): RejectedMedia[] {
  const kept = new Set<unknown>(reduced?.content);
  return findMedia(message).filter((block) => !kept.has(block));
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
