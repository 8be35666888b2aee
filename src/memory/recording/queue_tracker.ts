/**
 * What waits in an agent's queues, and what a run has taken out and not yet said.
 *
 * @module
 */

import type { QueuedMessage, QueuedMessages } from "../../core/event.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { QueueChangedEntry } from "../../core/session_entry.ts";

const EMPTY_QUEUES: QueuedMessages = { steering: [], followUp: [] };

/** Follows the queues, so that no crash loses a message on its way from a queue into the history. */
export class QueueTracker {
  #queued = EMPTY_QUEUES;
  #delivering = EMPTY_QUEUES;

  /** Takes what waits now; what is gone was taken out by a run, if one is active, and by hand otherwise. */
  update(queued: QueuedMessages, isRunning: boolean): QueueChangedEntry {
    const taken = isRunning ? diffQueues(this.#queued, queued) : EMPTY_QUEUES;
    this.#queued = queued;
    this.#delivering = {
      steering: [...this.#delivering.steering, ...taken.steering],
      followUp: [...this.#delivering.followUp, ...taken.followUp],
    };
    const { steering, followUp } = this.#delivering;
    const isDelivering = steering.length + followUp.length > 0;
    return {
      type: "queue_changed",
      queued,
      ...(isDelivering && { delivering: this.#delivering }),
    };
  }

  /** Takes note of what was said: when the assistant has spoken, everything was. */
  markDelivered(message: AgentMessage): void {
    if (message.role === "assistant") this.#delivering = EMPTY_QUEUES;
    else this.#delivering = withoutMessage(this.#delivering, message);
  }
}

function diffQueues(before: QueuedMessages, after: QueuedMessages): QueuedMessages {
  const gone = (old: readonly QueuedMessage[], now: readonly QueuedMessage[]) =>
    old.filter(({ id }) => !now.some((queued) => queued.id === id));
  return {
    steering: gone(before.steering, after.steering),
    followUp: gone(before.followUp, after.followUp),
  };
}

function withoutMessage(
  { steering, followUp }: QueuedMessages,
  message: AgentMessage,
): QueuedMessages {
  const isOther = (queued: QueuedMessage) => queued.message !== message;
  return { steering: steering.filter(isOther), followUp: followUp.filter(isOther) };
}
