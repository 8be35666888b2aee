/**
 * What Mistral wants otherwise than OpenAI.
 *
 * @module
 */

import type { WireMessage } from "../openai/chat/wire.ts";
import { type ChatDialect, COMPATIBLE } from "../openai/chat/dialect.ts";
import { hashText } from "../kit/request/wire_names.ts";

/** Ids of tool calls have so many letters and digits, and nothing else. */
const CALL_ID_LENGTH = 9;

/** These think always; they refuse to be told how hard. */
const ALWAYS_THINKING = /^magistral/;

/** Mistral's way of speaking chat completions. Fields that it does not know it refuses, `stream_options` among them. */
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

/** The id of a tool call as Mistral takes it: the same for the same call. */
export function toMistralCallId(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hashText(id, CALL_ID_LENGTH);
}

/**
 * A user cannot speak directly after a tool, so the model says a word in between; and a reply at the end, which the
 * model is to go on with, must be named as what its answer begins with.
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
