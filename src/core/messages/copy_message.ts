/**
 * Copies of messages for events.
 *
 * Every message of a turn is copied several times. The usual shapes take a fifth of the time of `cloneJson()`, which
 * copies all others: an object with no more properties than these has no others that would have to be copied.
 *
 * @module
 */

import { cloneJson } from "../json/json.ts";
import type { Cost, Usage } from "../models/usage.ts";
import type { ContentBlock } from "./content.ts";
import type { AgentMessage } from "./message.ts";
import type { AgentToolResult } from "./tool_result.ts";

/** Returns a copy of a valid message that is JSON already. */
export function copyMessage<Message extends AgentMessage>(message: Message): Message;
export function copyMessage(message: AgentMessage): AgentMessage {
  const size = countMembers(message);
  if (message.role === "assistant" && size === 9 && message.id && message.usage && message.cost) {
    return {
      ...message,
      content: message.content.map(copyBlock),
      usage: copyAmounts(message.usage),
      cost: copyAmounts(message.cost),
    };
  }
  if (message.role === "tool_result" && size === 7 && message.id) {
    return { ...message, content: message.content.map(copyBlock) };
  }
  return cloneJson(message);
}

/** Returns a copy of a valid tool result. */
export function copyResult(result: AgentToolResult): AgentToolResult {
  if (countMembers(result) > 1) return cloneJson(result);
  return { content: result.content.map(copyBlock) };
}

function copyBlock(block: ContentBlock): ContentBlock {
  const size = countMembers(block);
  if (block.type === "text" && size === 2) return { ...block };
  if (block.type === "tool_call" && size === 4 && block.arguments) {
    return { ...block, arguments: cloneJson(block.arguments) };
  }
  return cloneJson(block);
}

/** Returns a copy of valid token counts or of a valid cost. */
export function copyAmounts<Amounts extends Usage | Cost>(amounts: Amounts): Amounts {
  return amounts.extra ? cloneJson(amounts) : { ...amounts };
}

/** Counts the members of an object without a list of their names. */
function countMembers(object: object): number {
  let count = 0;
  // deno-lint-ignore guard-for-in -- an inherited member only makes the copy a slower one
  for (const _name in object) count++;
  return count;
}
