/**
 * Prompts with which a conversation starts and ends.
 *
 * @module
 */

import { MISSING_PROMPT } from "../../kit/request/history.ts";
import type { WireMessage } from "./wire.ts";

/**
 * Adds the missing prompts at the start and the end of a conversation. Many prompt templates of open models require that
 * it starts with one, and servers with models that think, such as llama.cpp, reject a reply at the end.
 */
export function completeEnds(messages: readonly WireMessage[]): WireMessage[] {
  const start = messages.findIndex(({ role }) => role !== "system");
  if (start < 0) return [...messages];
  const startsWithReply = messages[start]?.role === "assistant";
  const endsWithReply = messages.at(-1)?.role === "assistant";
  return [
    ...messages.slice(0, start),
    ...(startsWithReply ? [createPrompt(MISSING_PROMPT)] : []),
    ...messages.slice(start),
    ...(endsWithReply ? [createPrompt("Continue.")] : []),
  ];
}

function createPrompt(content: string): WireMessage {
  return { role: "user", content };
}
