/**
 * Conversations for servers whose prompt templates require that the roles alternate.
 *
 * @module
 */

import type { WireMessage } from "./wire.ts";

/**
 * Merges messages of the same role that follow each other: prompts, as after a reply that failed, and replies, as after
 * one that was cut off. Many prompt templates of open models reject them.
 */
export function mergeNeighbors(messages: readonly WireMessage[]): WireMessage[] {
  const merged: WireMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last && canMerge(last, message)) merged[merged.length - 1] = merge(last, message);
    else merged.push(message);
  }
  return merged;
}

function canMerge(last: WireMessage, { role }: WireMessage): boolean {
  if (role !== last.role) return false;
  return role === "user" || (role === "assistant" && last["tool_calls"] === undefined);
}

function merge(first: WireMessage, second: WireMessage): WireMessage {
  return { ...first, ...second, content: joinContent(first["content"], second["content"]) };
}

/** Joins texts or lists of parts; a reply that only calls tools has no content. */
function joinContent(first: unknown, second: unknown): unknown {
  if (!second) return first;
  if (!first) return second;
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  return [...toParts(first), ...toParts(second)];
}

function toParts(content: unknown): readonly unknown[] {
  return Array.isArray(content) ? content : [{ type: "text", text: content }];
}
