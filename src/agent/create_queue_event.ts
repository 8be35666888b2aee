/**
 * Creates the events of changed queues.
 *
 * @module
 */

import type { QueueChangedEvent, QueuedMessages } from "../core/event.ts";
import { cloneJson } from "../core/json.ts";

/**
 * Creates an event with a copy of the queues, whose lists must not change. They are copied when the event is first read:
 * a program may queue thousands of messages, one after the other, and nothing may listen.
 */
export function createQueueEvent(queues: QueuedMessages): QueueChangedEvent {
  let copy: QueuedMessages | undefined;
  return {
    type: "queue_changed",
    get queued(): QueuedMessages {
      return copy ??= cloneJson(queues);
    },
    set queued(changed) {
      copy = changed;
    },
  };
}
