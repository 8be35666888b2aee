/**
 * Creates the events of changed queues.
 *
 * @module
 */

import type { QueueChangedEvent, QueuedMessages } from "../core/events/event.ts";
import { cloneJson } from "../core/json/json.ts";
import type { MessageQueue } from "../loop/queues/message_queue.ts";

/**
 * Creates an event with a copy of the queues as they are now. It is made when the event is first read: a program may queue
 * thousands of messages, one after the other, and nothing may listen.
 */
export function createQueueEvent(
  steeringQueue: MessageQueue,
  followUpQueue: MessageQueue,
): QueueChangedEvent {
  const listSteering = steeringQueue.snapshot();
  const listFollowUp = followUpQueue.snapshot();
  let copy: QueuedMessages | undefined;
  return {
    type: "queue_changed",
    get queued(): QueuedMessages {
      return copy ??= cloneJson({ steering: listSteering(), followUp: listFollowUp() });
    },
    set queued(changed) {
      copy = changed;
    },
  };
}
