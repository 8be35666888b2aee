/**
 * Leaves parts of a request out.
 *
 * @module
 */

import type { ContentBlock, TextBlock } from "../../../src/core/messages/content.ts";
import type { LlmMessage } from "../../../src/core/messages/message.ts";
import type { StreamOptions, StreamRequest } from "../../../src/core/streams/stream.ts";
import { isMedia } from "./history.ts";
import type { MediaBlock } from "./media.ts";
import {
  ALL_IMAGES,
  hasSummary,
  MEDIA_NAMES,
  type RejectedPart,
  SUMMARY,
} from "./rejected_part.ts";
import { findMedia } from "./request_media.ts";

/** Text in place of an image for a model that accepts none. */
const UNSEEN_IMAGE = { type: "text", text: "(an image that this model cannot see)" } as const;

/** Whether a part must be left out. */
type IsRejected = (part: RejectedPart) => boolean;

/** Returns a request without the parts that are rejected; a text replaces each media block. */
export function omitParts(request: StreamRequest, isRejected: IsRejected): StreamRequest {
  const { context } = request;
  const messages = context.messages.map((message) => adaptMessage(message, isRejected));
  return {
    ...request,
    context: { ...context, messages },
    options: adaptOptions(request, isRejected),
  };
}

/** Returns a message; a reply that is rejected becomes one of another model, of which only text and calls are sent. */
function adaptMessage(message: LlmMessage, isRejected: IsRejected): LlmMessage {
  if (message.role === "assistant") {
    return isRejected(message) ? { ...message, provider: "", modelId: "" } : message;
  }
  const isOmitted = (block: MediaBlock) => findReplacement(block, isRejected) !== undefined;
  if (!findMedia(message).some(isOmitted)) return message;
  const adaptBlock = (block: ContentBlock) =>
    isMedia(block) ? findReplacement(block, isRejected) ?? block : block;
  return { ...message, content: message.content.map(adaptBlock) };
}

/** Returns the text in place of a block; `undefined` if the block is sent. */
function findReplacement(block: MediaBlock, isRejected: IsRejected): TextBlock | undefined {
  if (block.type === "image" && isRejected(ALL_IMAGES)) return UNSEEN_IMAGE;
  if (!isRejected(block)) return undefined;
  const text =
    `(${MEDIA_NAMES[block.type]} that the provider rejected: it is damaged, too large, ` +
    "one too many, no longer available or not accepted by this model)";
  return { type: "text", text };
}

function adaptOptions(request: StreamRequest, isRejected: IsRejected): StreamOptions {
  const { options } = request;
  if (!hasSummary(request) || !isRejected(SUMMARY)) return options;
  return { ...options, reasoningSummary: "off" };
}
