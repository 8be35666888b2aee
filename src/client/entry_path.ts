/**
 * The path of a conversation through the entries of its session, which are a tree.
 *
 * @module
 */

import type { AgentMessage } from "../core/messages/message.ts";
import type { SessionEntry } from "../core/sessions/session_entry.ts";

/** An entry of a session, with those before it. */
export interface EntryNode {
  /** Id of the entry. */
  readonly id: string;
  /** Its message. Default: none. */
  readonly message?: AgentMessage;
  /** The entry before it in the conversation. Default: it is the first one. */
  readonly parent: EntryNode | undefined;
  /** The entry before it in the log, which may belong to another branch. Default: it is the first one. */
  readonly previous: EntryNode | undefined;
}

/** Adds an entry after the last one of the log; `isBranch` if the conversation goes back to an older entry. */
export function followEntry(
  last: EntryNode | undefined,
  entry: SessionEntry,
): { readonly node: EntryNode; readonly isBranch: boolean } {
  const { id, parentId } = entry;
  // A client that begins in the middle of the log does not have the older entries.
  const parent = findEntry(last, parentId) ?? (parentId === null ? undefined : last);
  const message = entry.type === "message" ? { message: entry.message } : {};
  return { node: { id, ...message, parent, previous: last }, isBranch: parent !== last };
}

/** Returns the messages before an entry, in order. */
export function readPath(node: EntryNode): readonly AgentMessage[] {
  const messages: AgentMessage[] = [];
  for (let entry = node.parent; entry; entry = entry.parent) {
    if (entry.message) messages.push(entry.message);
  }
  return messages.reverse();
}

function findEntry(last: EntryNode | undefined, id: string | null): EntryNode | undefined {
  let entry = last;
  while (entry && entry.id !== id) entry = entry.previous;
  return entry;
}
