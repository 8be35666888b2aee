/**
 * Restores the queues of an agent.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { NoMessagesError } from "../../core/errors/errors.ts";
import type { QueuedMessages } from "../../core/events/event.ts";
import type { AgentMessage } from "../../core/messages/message.ts";

/** Replaces the queues of an agent. A message that it cannot have, such as one without content, is omitted. */
export function restoreQueues(agent: Agent, { steering, followUp }: QueuedMessages): void {
  agent.clearQueues();
  for (const { message } of steering) enqueue(message, (message) => agent.steer(message));
  for (const { message } of followUp) enqueue(message, (message) => agent.followUp(message));
}

function enqueue(message: AgentMessage, add: (message: AgentMessage) => unknown): void {
  try {
    add(message);
  } catch (error) {
    if (!(error instanceof NoMessagesError)) throw error;
  }
}
