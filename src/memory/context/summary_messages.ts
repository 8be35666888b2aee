/**
 * Messages with a summary, which replace the omitted messages.
 *
 * The summary is an assistant message: it also contains output of tools and web pages, which must not have the
 * authority of the user. Short user messages are inserted before and after it where they are needed, since some
 * providers require the roles to alternate.
 *
 * @module
 */

import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { zeroCost, zeroUsage } from "../../core/models/usage.ts";
import type { ChosenCut } from "./choose_cut.ts";

const QUESTION_TEXT = "What has happened so far?";
const CONTINUE_TEXT = "Go on from there.";

/** Message at the beginning of a conversation that would not begin with one of the user. */
export const OPENING_MESSAGE = userMessage(
  "The beginning of this conversation was omitted. Go on.",
  0,
);

/** A summary and the part it replaces. */
export interface SummaryInsertion {
  /** The omitted part. */
  readonly cut: ChosenCut;
  /** The summary; `undefined` for none. */
  readonly summary: string | undefined;
}

/**
 * Creates the messages that replace the omitted part. Without a summary that is a user message at the beginning of the
 * conversation, if there would be none, or nothing.
 */
export function createSummaryMessages(
  messages: readonly AgentMessage[],
  { cut: { from, to, pinned }, summary }: SummaryInsertion,
): AgentMessage[] {
  const timestamp = messages[to - 1]?.timestamp ?? 0;
  const before = messages.slice(0, from).findLast(({ role }) => role !== "custom");
  const kept = [...pinned, { from: to, to: messages.length }];
  const later = kept.flatMap((range) => messages.slice(range.from, range.to));
  const after = later.find(({ role }) => role !== "custom");
  if (summary === undefined) {
    return before || after?.role === "user" ? [] : [{ ...OPENING_MESSAGE, timestamp }];
  }
  const summaryMessage: AgentMessage = {
    role: "assistant",
    content: [{ type: "text", text: `Summary of the conversation so far:\n\n${summary}` }],
    // No model: the request of a resumed session must be the same.
    provider: "",
    modelId: "",
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: "stop",
    timestamp,
  };
  return [
    ...(before?.role === "user" ? [] : [userMessage(QUESTION_TEXT, timestamp)]),
    summaryMessage,
    ...(after?.role === "user" ? [] : [userMessage(CONTINUE_TEXT, timestamp)]),
  ];
}
