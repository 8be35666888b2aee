/**
 * Citations of documents, at Anthropic and Bedrock.
 *
 * @module
 */

import type { LlmMessage } from "../../src/core/messages/message.ts";
import type { WarningSink } from "../kit/request/warnings.ts";

/**
 * Whether the model cites documents, if any of them asks for it; Claude models require the same for all documents of a
 * request. With a response schema, they cite none.
 */
export function shouldCite(
  messages: readonly LlmMessage[],
  hasResponseSchema: boolean,
  sink: WarningSink,
): boolean {
  const isRequested = messages.some(({ content }) =>
    content.some((block) => block.type === "document" && block.citations)
  );
  if (!isRequested || !hasResponseSchema) return isRequested;
  const message = "The model does not support citations together with a response schema";
  sink.warning("citations_left_out", message);
  return false;
}
