/**
 * Detects replies that have answered other messages than those of the history, since a host has edited it.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";
import { type CountedReply, findLastCounted, getRequestTokens } from "./context_count.ts";
import { isSameMessage } from "./locate_message.ts";
import type { CountTokens } from "./message_groups.ts";

/** Part of the tokens of a request by which its messages may have changed, as by a note with the current time. */
const MAX_CHANGE = 0.02;

/** Compares each history with the one before it. */
export class EditedHistory {
  #latest: readonly AgentMessage[] | undefined;
  #firstTrusted = 0;

  /** Records a history that replaces the latest one, and whose replies have answered it. Default: the next one. */
  restore(messages?: readonly AgentMessage[]): void {
    this.#latest = messages;
    this.#firstTrusted = 0;
  }

  /** Whether no run has had another history since. */
  isLatest(messages: readonly AgentMessage[]): boolean {
    return messages === this.#latest;
  }

  /** Records a history whose replies have answered shorter requests; returns the position after them. */
  distrust(messages: readonly AgentMessage[]): number {
    this.#latest = messages;
    this.#firstTrusted = messages.length;
    return this.#firstTrusted;
  }

  /** Returns the position from which the usage of replies describes the history. */
  getFirstTrusted(messages: readonly AgentMessage[], countTokens: CountTokens): number {
    const latest = this.#latest;
    this.#latest = messages;
    const from = Math.min(this.#firstTrusted, messages.length);
    const counted = findLastCounted(messages, { from, to: messages.length });
    const isEdited = latest && counted && hasChanged(latest, messages, { counted, countTokens });
    this.#firstTrusted = isEdited ? messages.length : from;
    return this.#firstTrusted;
  }
}

/** Whether the messages that a reply has answered have become longer or shorter. */
function hasChanged(
  latest: readonly AgentMessage[],
  messages: readonly AgentMessage[],
  { counted, countTokens }: {
    readonly counted: CountedReply;
    readonly countTokens: CountTokens;
  },
): boolean {
  const { position, reply } = counted;
  const answered = wereSentLate(latest, messages, counted) ? latest.length : position;
  const isContinued = latest.every((message, index) => message === messages[index]);
  if (isContinued && answered <= latest.length) return false;
  const known = latest.findLastIndex((message) => isSameMessage(message, reply));
  // A reply that is new has answered the latest history.
  const before = known < 0 ? latest : latest.slice(0, known + 1);
  const after = messages.slice(0, known < 0 ? answered : position + 1);
  const change = countMissing(after, before, countTokens) -
    countMissing(before, after, countTokens);
  return Math.abs(change) > MAX_CHANGE * getRequestTokens(reply.usage);
}

/**
 * Whether the messages between a history and the reply to it were queued while the transform ran, so that their request has
 * them: the agent has given them an id, and their time is between.
 */
function wereSentLate(
  latest: readonly AgentMessage[],
  messages: readonly AgentMessage[],
  { position, reply }: CountedReply,
): boolean {
  const earliest = latest.at(-1)?.timestamp ?? 0;
  return position > latest.length &&
    messages.slice(latest.length, position).every(({ id, timestamp }) =>
      id !== undefined && timestamp >= earliest && timestamp <= reply.timestamp
    );
}

/** Estimates the tokens of the messages that another history does not have. */
function countMissing(
  messages: readonly AgentMessage[],
  other: readonly AgentMessage[],
  countTokens: CountTokens,
): number {
  const missing = messages.filter((message, position) => message !== other[position]);
  if (missing.length === 0) return 0;
  const found = new Set(other);
  return missing.reduce(
    (sum, message) => found.has(message) ? sum : sum + countTokens(message),
    0,
  );
}
