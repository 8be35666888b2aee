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
const positions = new WeakMap<readonly AgentMessage[], Map<string, number>>();

/** Returns a list with another message at the end, or in the place of the one with the same id. */
export function putMessage(
  messages: readonly AgentMessage[],
  message: AgentMessage,
): readonly AgentMessage[] {
  const { id } = message;
  const known = positions.get(messages) ?? indexMessages(messages);
  const position = id === undefined ? undefined : known.get(id);
  const isReplaced = position !== undefined && messages[position]?.id === id;
  const next = isReplaced ? messages.with(position, message) : [...messages, message];
  if (id !== undefined && position === undefined) known.set(id, messages.length);
  // Two lists may have the message in different places; the next change creates the positions of this one.
  if (isReplaced || position === undefined || position === messages.length) {
    positions.set(next, known);
  }
  return next;
}

function indexMessages(messages: readonly AgentMessage[]): Map<string, number> {
  const known = new Map<string, number>();
  messages.forEach(({ id }, position) => {
    if (id !== undefined) known.set(id, position);
  });
  positions.set(messages, known);
  return known;
}
