/**
 * Responses with more than one reply, of which only the first one is read.
 *
 * @module
 */

import { StreamError } from "../../../src/core/errors/errors.ts";
import type { ErrorOrigin } from "../errors/classify.ts";
import type { UnknownParts } from "./unknown_parts.ts";
import { textOrEmpty } from "./wire_values.ts";

/** One of several replies to a request, which a caller can ask for in `extra`. */
interface IndexedReply {
  /** Index of the reply. Default: it is the only one. */
  readonly index?: unknown;
}

/** Returns the first reply of a chunk; reports the others. */
export function selectFirstReply<Reply extends IndexedReply>(
  replies: readonly (Reply | null)[],
  unknown: UnknownParts,
): Reply | null | undefined {
  if (replies.some(isFurtherReply)) unknown.reportFurtherReplies();
  return replies.find((reply) => !isFurtherReply(reply));
}

function isFurtherReply(reply: IndexedReply | null): boolean {
  return typeof reply?.index === "number" && reply.index > 0;
}

/**
 * Creates the error of a second reply within one stream, such as a gateway sends when it repeats a failed request; `name`
 * is that of a reply in the API.
 */
export function createSecondReplyError(
  { provider }: Pick<ErrorOrigin, "provider">,
  name: "message" | "response",
): StreamError {
  return new StreamError(`${provider}: a second ${name} started within the reply`, { provider });
}

/** Recognizes the parts of a second response by their id, in an API without an event for the start of a response. */
export class ResponseId {
  #id = "";

  /**
   * Whether a part belongs to another response than the parts before it. Only a part after the end does: some servers send
   * another id with each part.
   */
  isOther(id: unknown, { hasEnded }: { readonly hasEnded: boolean }): boolean {
    const responseId = textOrEmpty(id) || this.#id;
    if (!hasEnded) this.#id = responseId;
    return this.#id !== "" && responseId !== this.#id;
  }
}
