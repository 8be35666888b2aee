/**
 * The text of messages of the user.
 *
 * @module
 */

import type { AgentMessage } from "../../../mod.ts";
import { extractText } from "../../../src/core/messages/content.ts";

/** Returns the text of a message of the user; empty for other messages. */
export function getUserText(message: AgentMessage): string {
  return message.role === "user" ? extractText(message.content) : "";
}
