/**
 * Prompts with which a conversation starts and ends.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import { CONTINUE, MISSING_PROMPT } from "../../kit/request/history.ts";
import type { WireMessage } from "./wire.ts";

/** Options for `completeEnds()`. */
export interface CompleteEndsOptions {
  /** Whether the server continues a reply at the end, which then stays the last message. Default: `false`. */
  readonly continuesReply?: boolean;
}

/** Whether the caller's fields make a server such as vLLM or SGLang continue a reply at the end of the conversation. */
export function canContinueReply(extra: JsonObject = {}): boolean {
  return extra["continue_final_message"] === true;
}

/**
 * Adds the missing prompts at the start and the end of a conversation. Many prompt templates of open models require that
 * it starts with one, and servers with models that think, such as llama.cpp, reject a reply at the end.
 */
export function completeEnds(
  messages: readonly WireMessage[],
  { continuesReply = false }: CompleteEndsOptions = {},
): WireMessage[] {
  const start = messages.findIndex(({ role }) => role !== "system");
  if (start < 0) return [...messages];
  const startsWithReply = messages[start]?.role === "assistant";
  const endsWithReply = !continuesReply && messages.at(-1)?.role === "assistant";
  return [
    ...messages.slice(0, start),
    ...(startsWithReply ? [createPrompt(MISSING_PROMPT)] : []),
    ...messages.slice(start),
    ...(endsWithReply ? [createPrompt(CONTINUE)] : []),
  ];
}

/** Separates replies that follow each other by the prompt that ended the request for the second one. */
export function separateReplies(
  messages: readonly WireMessage[],
  { continuesReply = false }: CompleteEndsOptions = {},
): readonly WireMessage[] {
  if (continuesReply) return messages;
  return messages.flatMap((message, index) => {
    const follows = message.role === "assistant" && messages[index - 1]?.role === "assistant";
    return follows ? [createPrompt(CONTINUE), message] : [message];
  });
}

function createPrompt(content: string): WireMessage {
  return { role: "user", content };
}
