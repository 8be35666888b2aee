/**
 * Citations of documents at Bedrock.
 *
 * @module
 */

import type { LlmMessage } from "../../src/core/messages/message.ts";
import { shouldCite } from "../anthropic/cited_documents.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { canBeCited } from "./media.ts";

/**
 * Whether the model cites the documents of a request: it cites all of them or none, and the API rejects a request for
 * citations of others than PDF documents and texts.
 */
export function shouldCiteAll(
  messages: readonly LlmMessage[],
  hasResponseSchema: boolean,
  sink: WarningSink,
): boolean {
  if (!shouldCite(messages, hasResponseSchema, sink)) return false;
  const canCite = messages.every(({ content }) =>
    content.every((block) => block.type !== "document" || canBeCited(block))
  );
  if (canCite) return true;
  const message = "Bedrock cites no documents next to others than PDF documents and texts";
  sink.warning("citations_left_out", message);
  return false;
}
