/**
 * The queued messages of an agent, and those that a run has dequeued and not yet delivered.
 *
 * @module
 */

import type { QueuedMessage, QueuedMessages } from "../../core/event.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { QueueChangedEntry, SessionEntry } from "../../core/session_entry.ts";
import { isJsonEqual } from "../../core/json_equal.ts";

const EMPTY_QUEUES: QueuedMessages = { steering: [], followUp: [] };

/** Tracks the queues, so that a crash loses no message between a queue and the history. */
export class QueueTracker {
  #queued = EMPTY_QUEUES;
  #delivering = EMPTY_QUEUES;

  /** Sets the current queues, which were restored from a path. Returns whether the path has exactly these messages. */
  restore(queued: QueuedMessages, path: readonly SessionEntry[]): boolean {
    this.#queued = queued;
    const logged = path.findLast((entry) => entry.type === "queue_changed");
    return logged?.type === "queue_changed" && logged.delivering === undefined &&
      isJsonEqual(getMessages(logged.queued), getMessages(queued));
  }

  /** Sets the current queues. Messages that were removed during a run count as dequeued by it. */
  update(queued: QueuedMessages, isRunning: boolean): QueueChangedEntry {
    const dequeued = isRunning ? diffQueues(this.#queued, queued) : EMPTY_QUEUES;
    this.#queued = queued;
    this.#delivering = {
      steering: [...this.#delivering.steering, ...dequeued.steering],
      followUp: [...this.#delivering.followUp, ...dequeued.followUp],
    };
    const { steering, followUp } = this.#delivering;
    const isDelivering = steering.length + followUp.length > 0;
    return {
      type: "queue_changed",
      queued,
      ...(isDelivering && { delivering: this.#delivering }),
    };
  }

  /** Marks a message as delivered; an assistant message marks all of them. */
  markDelivered(message: AgentMessage): void {
    if (message.role === "assistant") this.#delivering = EMPTY_QUEUES;
    else this.#delivering = withoutMessage(this.#delivering, message);
  }
}

/** Returns the messages of queues without their ids, which restored ones do not keep. */
function getMessages({ steering, followUp }: QueuedMessages): readonly AgentMessage[][] {
  return [steering, followUp].map((queue) => queue.map(({ message }) => message));
}

/** Returns the messages that are no longer queued. */
function diffQueues(before: QueuedMessages, after: QueuedMessages): QueuedMessages {
  const findRemoved = (old: readonly QueuedMessage[], current: readonly QueuedMessage[]) =>
    old.filter(({ id }) => !current.some((queued) => queued.id === id));
  return {
    steering: findRemoved(before.steering, after.steering),
    followUp: findRemoved(before.followUp, after.followUp),
  };
}

function withoutMessage(
  { steering, followUp }: QueuedMessages,
  message: AgentMessage,
): QueuedMessages {
  const isOther = (queued: QueuedMessage) => queued.message.id !== message.id;
  return { steering: steering.filter(isOther), followUp: followUp.filter(isOther) };
}
