/**
 * The media of a request.
 *
 * @module
 */

import type { LlmMessage } from "../../../src/core/messages/message.ts";
import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import { isMedia } from "./history.ts";
import type { MediaBlock } from "./media.ts";

/** Returns the images, documents and audio clips of the messages from an index on. */
export function listMedia({ context }: StreamRequest, start: number): MediaBlock[] {
  return context.messages.slice(start).flatMap(findMedia);
}

/** Returns the images of a request. */
export function listImages(request: StreamRequest): MediaBlock[] {
  return listMedia(request, 0).filter(({ type }) => type === "image");
}

/** Returns the media of a message; a reply has none. */
export function findMedia(message: LlmMessage): MediaBlock[] {
  return message.role === "assistant" ? [] : message.content.filter(isMedia);
}

/** Returns the index of the first message after the reply before the newest media. */
export function findNewestTurn(
  { context: { messages } }: StreamRequest,
  includes: (block: MediaBlock) => boolean,
): number {
  const last = messages.findLastIndex((message) => findMedia(message).some(includes));
  return messages.slice(0, Math.max(last, 0)).findLastIndex(({ role }) => role === "assistant") + 1;
}

/** Returns the size of media in a request, in characters; that of URLs and files is not known. */
export function getMediaSize(media: readonly MediaBlock[]): number {
  return media.reduce(
    (size, { source }) => size + (source.type === "base64" ? source.data.length : 0),
    0,
  );
}
