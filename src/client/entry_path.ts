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
  /** Its message, or those of a history that ends with it. */
  readonly messages: readonly AgentMessage[];
  /** The entry before it in the conversation. Default: it is the first one. */
  readonly parent: EntryNode | undefined;
  /** The entry before it in the log, which may belong to another branch. Default: it is the first one. */
  readonly previous: EntryNode | undefined;
}

/** Returns the entry before the first one that a client gets, with the history that the client has already. */
export function createFirstNode(
  entry: SessionEntry,
  history: readonly AgentMessage[],
): EntryNode | undefined {
  const { parentId: id } = entry;
  if (id === null) return undefined;
  const messageId = entry.type === "message" ? entry.message.id : undefined;
  // The history may have been loaded later than the entry was written.
  const end = history.findIndex((message) => message.id !== undefined && message.id === messageId);
  const messages = end < 0 ? history : history.slice(0, end);
  return { id, messages, parent: undefined, previous: undefined };
}

/** Adds an entry after the last one of the log; `isBranch` if the conversation goes back to an older entry. */
export function followEntry(
  last: EntryNode | undefined,
  entry: SessionEntry,
): { readonly node: EntryNode; readonly isBranch: boolean } {
  const { id, parentId } = entry;
  // A client that begins in the middle of the log does not have the older entries.
  const parent = findEntry(last, parentId) ?? (parentId === null ? undefined : last);
  const messages = entry.type === "message" ? [entry.message] : [];
  return { node: { id, messages, parent, previous: last }, isBranch: parent !== last };
}

/** Returns the messages before an entry, in order. */
export function readPath({ parent }: EntryNode): readonly AgentMessage[] {
  const path: EntryNode[] = [];
  for (let entry = parent; entry; entry = entry.parent) path.push(entry);
  return path.reverse().flatMap(({ messages }) => messages);
}

function findEntry(last: EntryNode | undefined, id: string | null): EntryNode | undefined {
  let entry = last;
  while (entry && entry.id !== id) entry = entry.previous;
  return entry;
}
