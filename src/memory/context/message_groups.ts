/**
 * Groups of messages that are kept or omitted together: a reply and the results of its tool calls.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";

/** Estimates the tokens of a message. */
export type CountTokens = (message: AgentMessage) => number;

/** A part of a history. */
export interface HistoryRange {
  /** Position of the first message. */
  readonly from: number;
  /** Position after the last message. */
  readonly to: number;
}

/** Messages that are kept or omitted together. */
export interface MessageGroup extends HistoryRange {
  /** Estimated tokens of the messages. */
  readonly tokens: number;
}

/** Splits a history into groups: each reply with its tool results, every other message alone. */
export function groupMessages(
  messages: readonly AgentMessage[],
  countTokens: CountTokens,
): MessageGroup[] {
  const groups: MessageGroup[] = [];
  let from = 0;
  while (from < messages.length) {
    let to = from + 1;
    while (messages[to]?.role === "tool_result") to++;
    let tokens = 0;
    for (const message of messages.slice(from, to)) tokens += countTokens(message);
    groups.push({ from, to, tokens });
    from = to;
  }
  return groups;
}
