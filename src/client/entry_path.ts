/**
 * The path of a conversation through the entries of its session, which are a tree.
 *
 * @module
 */

import { AgentError } from "../core/errors/errors.ts";
import type { StoppedBy } from "../core/events/stopped_by.ts";
import type { AgentMessage } from "../core/messages/message.ts";
import type { SessionEntry } from "../core/sessions/session_entry.ts";
import { putMessage } from "./message_list.ts";

/** An entry of a session, with those before it. */
export interface EntryNode {
  /** Id of the entry; `null` before the first one. */
  readonly id: string | null;
  /** Its message, or those of a history that ends with it. */
  readonly messages: readonly AgentMessage[];
  /** Number of the messages until here. */
  readonly count: number;
  /** The entry before it in the conversation. Default: none. */
  readonly parent?: EntryNode;
  /** The entry before it in the log, which may belong to another branch. Default: none. */
  readonly previous?: EntryNode;
  /** The end of the last run before it. Default: none is known. */
  readonly ended?: RunEnd | undefined;
}

/** The end of a run. */
export interface RunEnd {
  /** Its error, if it has failed. */
  readonly error: Error | undefined;
  /** The policy that stopped it, if one did. */
  readonly stoppedBy: StoppedBy | undefined;
}

const START: EntryNode = { id: null, messages: [], count: 0 };

/** Returns the entry before the first one that a client gets, with the history that the client has already. */
export function createFirstNode(
  entry: SessionEntry,
  history: readonly AgentMessage[],
): EntryNode {
  const { parentId: id } = entry;
  if (id === null) return START;
  // The history may have been loaded later than the entry was written.
  const end = entry.type === "message"
    ? putMessage(history, entry.message).indexOf(entry.message)
    : history.length;
  return { id, messages: history.slice(0, end), count: end, previous: START };
}

/** Adds an entry after the last one of the log; `isBranch` if the conversation goes back to an older entry. */
export function followEntry(
  last: EntryNode,
  entry: SessionEntry,
): { readonly node: EntryNode; readonly isBranch: boolean } {
  const { id, parentId } = entry;
  let parent: EntryNode | undefined = last;
  while (parent && parent.id !== parentId) parent = parent.previous;
  // A client that begins in the middle of the log does not have the older entries.
  parent ??= last;
  const messages = entry.type === "message" ? [entry.message] : [];
  let { ended } = last;
  if (entry.type === "run_ended") {
    const { error, stoppedBy } = entry;
    ended = { error: error && AgentError.from(error), stoppedBy };
  }
  const count = parent.count + messages.length;
  return {
    node: { id, messages, count, parent, previous: last, ended },
    isBranch: parent !== last,
  };
}

/** Returns the messages of an entry and those before it, in order. */
export function readPath(last: EntryNode | undefined): readonly AgentMessage[] {
  const path: EntryNode[] = [];
  for (let entry = last; entry; entry = entry.parent) path.push(entry);
  return path.reverse().flatMap(({ messages }) => messages);
}
