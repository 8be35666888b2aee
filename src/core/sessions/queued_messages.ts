/**
 * The messages that are queued in a session.
 *
 * @module
 */

import type { QueuedMessage, QueuedMessages } from "../events/event.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { SessionEntry, SessionEntryType } from "./session_entry.ts";

/** The types of the entries that {@linkcode findQueued} needs. */
export const QUEUE_ENTRIES: readonly SessionEntryType[] = ["message", "queue_changed", "run_ended"];

/** Returns the messages in the queues after the entries of a path, with those that a run has dequeued and not delivered. */
export function findQueued(path: readonly SessionEntry[]): QueuedMessages {
  const position = path.findLastIndex(({ type }) => type === "queue_changed");
  const entry = path[position];
  if (entry?.type !== "queue_changed") return { steering: [], followUp: [] };
  const { queued, delivering } = entry;
  const later = path.slice(position + 1);
  // A run that has ended has delivered what it dequeued: earlier versions also recorded what the host had removed.
  if (!delivering || later.some(({ type }) => type === "run_ended")) return queued;
  const delivered = later.flatMap((entry) => entry.type === "message" ? [entry.message] : []);
  const undelivered = findUndelivered(delivering, delivered);
  return {
    steering: [...undelivered.steering, ...queued.steering],
    followUp: [...undelivered.followUp, ...queued.followUp],
  };
}

/** Finds the dequeued messages that were not delivered; none after a reply, since a run delivers all of them before it. */
function findUndelivered(
  { steering, followUp }: QueuedMessages,
  delivered: readonly AgentMessage[],
): QueuedMessages {
  if (delivered.some(({ role }) => role === "assistant")) return { steering: [], followUp: [] };
  const keys = new Set(delivered.map(getKey));
  const isUndelivered = ({ message }: QueuedMessage) => !keys.has(getKey(message));
  return { steering: steering.filter(isUndelivered), followUp: followUp.filter(isUndelivered) };
}

/** Returns what identifies a message. Those of an agent have an id; those of other programs may have none. */
function getKey(message: AgentMessage): string {
  return message.id ?? JSON.stringify(message);
}
