/**
 * Finds messages again, in a history that was stored, repaired or transformed meanwhile.
 *
 * @module
 */

import { isJsonEqual } from "../../core/json/json_equal.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { safeStringify } from "../store/safe_stringify.ts";

/** The message to find. */
export interface MessageReference {
  /** The message, or its id. Default: any message at the position. */
  readonly message?: AgentMessage | { readonly id: string } | undefined;
  /** The position at which it is expected; -1 if unknown. */
  readonly expectedAt: number;
}

/**
 * Returns the position of a message, or -1. The same object comes first, then the expected position, then any message
 * with the same id, or with the same content if neither has an id.
 */
export function locateMessage(
  messages: readonly AgentMessage[],
  { message, expectedAt }: MessageReference,
): number {
  const expected = messages[expectedAt];
  if (message === undefined) return expected ? expectedAt : -1;
  const position = messages.findIndex((candidate) => candidate === message);
  if (position >= 0) return position;
  if (expected && isSameMessage(expected, message)) return expectedAt;
  return messages.findIndex((candidate) => isSameMessage(candidate, message));
}

/** Returns the positions of messages, or -1, in a time proportional to the number of all. */
export function locateMessages(
  messages: readonly AgentMessage[],
  wanted: readonly AgentMessage[],
): readonly number[] {
  const positions = new Map<unknown, number>();
  const withId = wanted.every(({ id }) => id !== undefined);
  messages.forEach((message, position) => {
    const text = withId || message.id !== undefined ? undefined : safeStringify(message);
    for (const key of [message, message.id, text]) {
      if (key !== undefined && !positions.has(key)) positions.set(key, position);
    }
  });
  return wanted.map((message) =>
    positions.get(message) ?? positions.get(message.id ?? safeStringify(message)) ?? -1
  );
}

/** Whether two values are the same message: by identity, by id, or by content if neither has an id. */
export function isSameMessage(
  left: AgentMessage,
  right: AgentMessage | { readonly id: string },
): boolean {
  if (left === right) return true;
  if (left.id !== undefined || right.id !== undefined) return left.id === right.id;
  return isJsonEqual(left, right);
}

/** Returns a check for whether a message is one of those to find, which takes the same time however many these are. */
export function createMessageCheck(
  references: readonly MessageReference[],
): (message: AgentMessage, position: number) => boolean {
  const keys = new Set<unknown>();
  const texts = new Set<string>();
  for (const { message, expectedAt } of references) {
    keys.add(message ? message.id ?? message : expectedAt);
    if (message && message.id === undefined) texts.add(safeStringify(message));
  }
  return (message, position) => {
    if (message.id !== undefined) return keys.has(message.id);
    return keys.has(message) || keys.has(position) ||
      texts.size > 0 && texts.has(safeStringify(message));
  };
}

/** Moves a position forward past tool results, which stay with their reply. */
export function skipResults(messages: readonly AgentMessage[], position: number): number {
  let next = position;
  while (messages[next]?.role === "tool_result") next++;
  return next;
}
