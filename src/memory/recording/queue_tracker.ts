/**
 * The queued messages of an agent, and those that a run has dequeued and not yet delivered.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { internalsByAgent } from "../../agent/options.ts";
import type { QueuedMessage, QueuedMessages } from "../../core/events/event.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { QueueChangedEntry, SessionEntry } from "../../core/sessions/session_entry.ts";
import { MessageQueue } from "../../loop/queues/message_queue.ts";

const EMPTY_QUEUES: QueuedMessages = { steering: [], followUp: [] };

/** Tracks the queues, so that a crash loses no message between a queue and the history. */
export class QueueTracker {
  #queued = EMPTY_QUEUES;
  #delivering = EMPTY_QUEUES;
  #sources: readonly MessageQueue[] = [];

  /** Sets the current queues, which were restored from a path. Returns whether the path has exactly these messages. */
  start(agent: Agent, path: readonly SessionEntry[]): boolean {
    const { queued } = agent;
    this.#queued = queued;
    this.#sources = getMessageQueues(agent);
    const logged = path.findLast((entry) => entry.type === "queue_changed");
    return logged?.type === "queue_changed" && logged.delivering === undefined &&
      isSame(logged.queued, queued);
  }

  /** Whether the current queues are these. */
  isCurrent(queued: QueuedMessages): boolean {
    return isSame(this.#queued, queued);
  }

  /** Sets the current queues. Messages that a run has taken are being delivered. */
  update(queued: QueuedMessages, isRunning: boolean): QueueChangedEntry {
    const dequeued = this.#selectTaken(diffQueues(this.#queued, queued));
    this.#queued = queued;
    // Between runs, nothing is being delivered.
    this.#delivering = isRunning ? mergeQueues(this.#delivering, dequeued) : EMPTY_QUEUES;
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

  /** Returns the removed messages without those that the host has removed. */
  #selectTaken({ steering, followUp }: QueuedMessages): QueuedMessages {
    const taken = new Set(this.#sources.flatMap(({ taken }) => taken.map(({ id }) => id)));
    const isTaken = ({ message }: QueuedMessage) => taken.has(message.id);
    return { steering: steering.filter(isTaken), followUp: followUp.filter(isTaken) };
  }
}

function getMessageQueues(agent: Agent): readonly MessageQueue[] {
  const { steering, followUp } = internalsByAgent.get(agent)?.createConfig() ?? {};
  return [steering, followUp].filter((queue) => queue instanceof MessageQueue);
}

/** Returns the queued messages of an agent with those that its run has dequeued and not yet delivered. */
export function getUndelivered(agent: Agent): QueuedMessages {
  const { queued, state: { isRunning, messages } } = agent;
  if (!isRunning) return queued;
  const delivered = new Set(messages.map(({ id }) => id));
  const [steering = [], followUp = []] = getMessageQueues(agent).map(({ taken }) =>
    taken.filter(({ id }) => !delivered.has(id))
      .map((message) => ({ id: message.id ?? "", message }))
  );
  return mergeQueues({ steering, followUp }, queued);
}

function isSame(first: QueuedMessages, second: QueuedMessages): boolean {
  return isJsonEqual(getMessages(first), getMessages(second));
}

/** Returns the messages of queues without their ids, which restored ones do not keep. */
function getMessages({ steering, followUp }: QueuedMessages): readonly AgentMessage[][] {
  return [steering, followUp].map((queue) => queue.map(({ message }) => message));
}

function mergeQueues(first: QueuedMessages, second: QueuedMessages): QueuedMessages {
  return {
    steering: [...first.steering, ...second.steering],
    followUp: [...first.followUp, ...second.followUp],
  };
}

/** Returns the messages that are no longer queued. */
function diffQueues(before: QueuedMessages, after: QueuedMessages): QueuedMessages {
  const findRemoved = (old: readonly QueuedMessage[], current: readonly QueuedMessage[]) => {
    const ids = new Set(current.map(({ id }) => id));
    return old.filter(({ id }) => !ids.has(id));
  };
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
