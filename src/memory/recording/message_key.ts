/**
 * Keys that identify messages.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";
import { safeStringify } from "../store/safe_stringify.ts";

/** Returns what identifies a message. Those of an agent have an id; those of other programs may have none. */
export function getMessageKey(message: AgentMessage): string {
  return message.id ?? safeStringify(message);
}
