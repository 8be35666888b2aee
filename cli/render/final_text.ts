/**
 * The final answer of a run.
 *
 * @module
 */

import type { AgentMessage } from "../../mod.ts";
import { extractText } from "../../src/core/messages/content.ts";

/** Returns the text of the last reply that has any; empty when none has. */
export function getFinalText(messages: readonly AgentMessage[]): string {
  for (const message of messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const text = extractText(message.content).trim();
    if (text !== "") return text;
  }
  return "";
}
