/**
 * Earlier replies whose thinking, signatures or provider items a provider rejects although its own model wrote them, as when
 * a session continues with the key of another account, or behind another gateway. Every further request would fail.
 *
 * @module
 */

import { AgentError } from "../../../src/core/errors.ts";
import type { AssistantMessage, LlmMessage } from "../../../src/core/message.ts";
import type { StreamRequest } from "../../../src/core/stream.ts";
import { isOwnReply } from "./history.ts";

/**
 * Matches errors about such parts: "The encrypted content gAAA… could not be verified" of OpenAI, "Invalid `signature` in
 * `thinking` block" of Anthropic and "Thought signature is not valid" of Google.
 */
const REJECTED =
  /encrypted[ _]content|invalid [`'"]?(?:signature|data)[`'"]? in [`'"]?(?:redacted_)?thinking|thought[ _]?signature|thinking[`'"]? blocks .*cannot be modified/i;

/** Whether a provider rejected a request because of such parts. */
export function isReplyRejected(error: unknown): boolean {
  return AgentError.is(error) && error.code === "bad_request" && REJECTED.test(error.message);
}

/** The replies that a provider is known to reject. */
export class RejectedReplies {
  readonly #rejected = new WeakSet<AssistantMessage>();

  /** Returns a request in which the rejected replies are those of another model, which gets nothing but text and calls. */
  adapt(request: StreamRequest): StreamRequest {
    return disown(request, (reply) => this.#rejected.has(reply));
  }

  /** Returns a request in which no reply is the model's own; `undefined` if none has more than text and calls. */
  reject(request: StreamRequest): StreamRequest | undefined {
    const isRejected = ({ context, model }: StreamRequest) =>
      context.messages.some((message) =>
        message.role === "assistant" && isOwnReply(message, model) && hasReasoning(message)
      );
    return isRejected(request) ? disown(request, () => true) : undefined;
  }

  /** Remembers the replies of a request, so that later requests are adapted at once. */
  remember({ context }: StreamRequest): void {
    for (const message of context.messages) {
      if (message.role === "assistant") this.#rejected.add(message);
    }
  }
}

function disown(
  request: StreamRequest,
  isRejected: (reply: AssistantMessage) => boolean,
): StreamRequest {
  const { context } = request;
  const adapt = (message: LlmMessage): LlmMessage =>
    message.role === "assistant" && isRejected(message)
      ? { ...message, provider: "", modelId: "" }
      : message;
  const messages = context.messages.map(adapt);
  const isChanged = messages.some((message, index) => message !== context.messages[index]);
  return isChanged ? { ...request, context: { ...context, messages } } : request;
}

function hasReasoning({ content }: AssistantMessage): boolean {
  return content.some((block) =>
    block.type === "thinking" || block.type === "extension" ||
    ("signature" in block && block.signature !== undefined)
  );
}
