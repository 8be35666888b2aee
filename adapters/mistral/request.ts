/**
 * Differences of Mistral's requests from OpenAI's.
 *
 * @module
 */

import type { WireMessage } from "../openai/chat/wire.ts";
import { type ChatDialect, COMPATIBLE } from "../openai/chat/dialect.ts";
import { hashText } from "../kit/request/wire_names.ts";

/** Length of the ids of tool calls, which consist of letters and digits. */
const CALL_ID_LENGTH = 9;

/** Matches models that always think and reject a thinking effort. */
const ALWAYS_THINKING = /^magistral/;

/** Mistral's dialect of chat completions. Mistral rejects unknown fields, including `stream_options`. */
export const MISTRAL_DIALECT: ChatDialect = {
  ...COMPATIBLE,
  needsUsageOption: false,
  hasCacheKey: true,
  toThinkingFields: (model, ability) =>
    ALWAYS_THINKING.test(model.modelId) ? {} : COMPATIBLE.toThinkingFields(model, ability),
  encodeCallId: toMistralCallId,
  hasThinkingParts: true,
  repairOrder: repairMessageOrder,
};

/** Returns the id of a tool call in the form that Mistral accepts, always the same for the same id. */
export function toMistralCallId(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hashText(id, CALL_ID_LENGTH);
}

/**
 * Inserts an assistant message between a tool result and a user message, which Mistral requires, and marks an assistant
 * message at the end as the prefix of the reply.
 */
function repairMessageOrder(messages: readonly WireMessage[]): readonly WireMessage[] {
  const ordered = messages.flatMap((message, index) => {
    const isInterruption = message.role === "user" && messages[index - 1]?.role === "tool";
    return isInterruption ? [{ role: "assistant", content: "Noted." }, message] : [message];
  });
  const last = ordered.at(-1);
  const isPrefix = last?.role === "assistant" && last["tool_calls"] === undefined;
  return isPrefix ? [...ordered.slice(0, -1), { ...last, prefix: true }] : ordered;
}
