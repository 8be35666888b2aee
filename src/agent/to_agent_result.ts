/**
 * Creates the result of a run. Loaded when a result is first requested.
 *
 * @module
 */

import { extractText } from "../core/messages/content.ts";
import { copyMessage } from "../core/messages/copy_message.ts";
import type { AgentMessage } from "../core/messages/message.ts";
import type { RunSummary } from "../loop/start_run.ts";
import type { AgentResult } from "./agent_result.ts";

/** Creates the result of a run from its summary, with copies of its messages. */
export function toAgentResult(summary: RunSummary): AgentResult {
  const messages = summary.messages.map((message) => copyMessage(message));
  return { ...summary, messages, text: getLastText(messages) };
}

/** Returns the text of the last reply among the messages of a run. */
function getLastText(messages: readonly AgentMessage[]): string {
  const reply = messages.findLast((message) => message.role === "assistant");
  return extractText(reply?.content ?? []);
}
