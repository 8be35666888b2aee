/**
 * Lists of messages with distinct ids, which are never changed.
 *
 * @module
 */

import type { AgentMessage } from "../core/messages/message.ts";

/**
 * The position of each id in a list, so that a long conversation is not searched for each message. A list shares it with
 * those that it was made from: a position beyond its end, or of another message, belongs to another one of them.
 */
const positions = new WeakMap<readonly AgentMessage[], Map<string | undefined, number>>();

/** Returns a list with another message at the end, or in the place of the one with the same id. */
export function putMessage(
  messages: readonly AgentMessage[],
  message: AgentMessage,
): readonly AgentMessage[] {
  const { id } = message;
  const { length } = messages;
  const known = positions.get(messages) ??
    new Map(messages.map((other, position) => [other.id, position]));
  const found = id === undefined ? length : known.get(id) ?? length;
  const position = messages[found]?.id === id ? found : length;
  const next = [...messages];
  next[position] = message;
  // A list that has the message in another place than an earlier one needs positions of its own.
  if (position === found) positions.set(next, known.set(id, position));
  return next;
}
