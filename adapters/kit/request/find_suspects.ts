/**
 * Finds the parts of a request that an error may be about.
 *
 * @module
 */

import type { AgentError } from "../../../src/core/errors/errors.ts";
import type { AssistantMessage } from "../../../src/core/messages/message.ts";
import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import { isOwnReply } from "./history.ts";
import { ALL_IMAGES, hasSummary, MEDIA_CODES, SUMMARY, type Suspects } from "./rejected_part.ts";
import {
  REJECTED_FILE,
  REJECTED_SUMMARY,
  REJECTED_THINKING,
  TOO_LARGE,
  TOO_MANY,
  UNUSUAL_STATUS,
  WITHOUT_VISION,
} from "./rejection_patterns.ts";
import { getMediaSize, listImages, listMedia } from "./request_media.ts";
import { suspectKind, suspectLargeMedia, suspectOldMedia } from "./suspect_media.ts";

/** Size of the media in a request, in characters of base64, from which on they are a reason for the status 413. */
const MIN_LARGE_MEDIA = 1_000_000;

/**
 * Finds what an error may be about; `undefined` if it is not about the content of the request.
 *
 * @param part The JSON of the part of the body that the error names.
 */
export function findSuspects(
  error: AgentError,
  request: StreamRequest,
  part: string | undefined,
): Suspects | undefined {
  const { code, message } = error;
  if (code !== "model_throttled" && WITHOUT_VISION.test(message)) return suspectVision(request);
  if (isAboutSize(error, request)) return suspectLargeMedia(request);
  if (!isAboutRequest(error)) return undefined;
  if (REJECTED_THINKING.test(message)) return suspectThinking(request);
  if (REJECTED_SUMMARY.test(message)) return suspectSummary(request);
  if (TOO_MANY.test(message)) return suspectOldMedia(request, message);
  return suspectKind(request, { message, part });
}

/** Whether an error is about the size of media; that of the whole request is theirs if they are large. */
function isAboutSize({ code, message }: AgentError, request: StreamRequest): boolean {
  if (!TOO_LARGE.test(message)) return false;
  return code === "bad_request" || getMediaSize(listMedia(request, 0)) >= MIN_LARGE_MEDIA;
}

/** Whether an error is about the content of the request; some messages about it come with unusual statuses. */
function isAboutRequest({ code, message }: AgentError): boolean {
  return code === "bad_request" || REJECTED_FILE.test(message) || UNUSUAL_STATUS.test(message);
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

function hasReasoning({ content }: AssistantMessage): boolean {
  return content.some((block) =>
    block.type === "thinking" || block.type === "extension" ||
    ("signature" in block && block.signature !== undefined)
  );
}
