/**
 * The answer of a run.
 *
 * @module
 */

import { type AgentMessage, extractText } from "../../mod.ts";

/** The text of the last reply that has any; empty when there is none. */
export function getFinalText(messages: readonly AgentMessage[]): string {
  for (const message of messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const text = extractText(message.content).trim();
    if (text !== "") return text;
  }
  return "";
}
