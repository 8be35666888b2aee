/**
 * Queues the messages of a prompt.
 *
 * @module
 */

import { NoMessagesError } from "../core/errors/errors.ts";
import type { QueuedMessage } from "../core/events/event.ts";
import { repairHistory } from "../core/messages/history.ts";
import { type AgentMessage, type PromptInput, toAgentMessages } from "../core/messages/message.ts";
import type { Ports } from "../core/ports/ports.ts";
import type { MessageQueue } from "../loop/queues/message_queue.ts";

/**
 * Queues the messages of an input, and returns the last one.
 *
 * @throws {NoMessagesError} If the input is empty.
 */
export function enqueue(
  queue: MessageQueue,
  input: PromptInput,
  { now, newId }: Pick<Ports, "now" | "newId">,
): QueuedMessage {
  // The id stays the same when the message is delivered.
  const add = (message: AgentMessage): QueuedMessage =>
    queue.add({ ...message, id: message.id ?? newId("message") });
  const [first, ...rest] = repairHistory(toAgentMessages(input, now())).messages;
  if (!first) throw new NoMessagesError("There are no messages to queue");
  return rest.reduce((_last, message) => add(message), add(first));
}
