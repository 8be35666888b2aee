/**
 * Messages with a plan, which compaction keeps.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";

/**
 * Whether a message contains a plan: a custom message of type `plan`, or any message with an extension block
 * whose `typeName` is `plan`.
 */
export function isPlan(message: AgentMessage): boolean {
  if (message.role === "custom") return message.type === "plan";
  return message.content.some((block) => block.type === "extension" && block.typeName === "plan");
}
