/**
 * Detects replies that have answered other messages than those of the history, since a host has edited it.
 *
 * @module
 */

import { isJsonEqual } from "../../core/json/json_equal.ts";
import type { AgentMessage } from "../../core/messages/message.ts";

/** Compares each history with the one before it. */
export class EditedHistory {
  #latest: readonly AgentMessage[] = [];
  #firstTrusted = 0;

  /** Returns the position from which the usage of replies describes the history. */
  getFirstTrusted(messages: readonly AgentMessage[]): number {
    const latest = this.#latest;
    this.#latest = messages;
    const common = countCommon(latest, messages);
    const hasEarlierReplies = common < latest.length &&
      messages.slice(common).some(({ role }) => role === "assistant");
    this.#firstTrusted = hasEarlierReplies
      ? messages.length
      : Math.min(this.#firstTrusted, messages.length);
    return this.#firstTrusted;
  }
}

/** Returns the number of messages at the beginning that two histories share. */
function countCommon(before: readonly AgentMessage[], after: readonly AgentMessage[]): number {
  const changed = before.findIndex((message, position) => {
    const found = after[position];
    return found === undefined || found !== message && !isJsonEqual(found, message);
  });
  return changed < 0 ? before.length : changed;
}
