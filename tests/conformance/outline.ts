/**
 * Formats events and messages as short lines, for comparison in tests.
 *
 * @module
 */

import type { AgentEvent } from "../../src/core/events/event.ts";
import { extractText } from "../../src/core/messages/content.ts";
import type { AgentMessage } from "../../src/core/messages/message.ts";

/** Formats each event as its type and its most distinctive property; omits the model calls, one for each attempt. */
export function outlineEvents(events: readonly AgentEvent[]): string[] {
  return outlineAllEvents(events).filter((line) => !line.startsWith("model_call"));
}

/** Formats each event as its type and its most distinctive property. */
export function outlineAllEvents(events: readonly AgentEvent[]): string[] {
  return events.map(formatEvent);
}

/** Formats each message as its role, its text and its tool calls. */
export function outlineMessages(messages: readonly AgentMessage[]): string[] {
  return messages.map((message) => {
    if (message.role === "custom") return `custom: ${message.type}`;
    const calls = message.content.flatMap((block) =>
      block.type === "tool_call" ? [`${block.name}(${JSON.stringify(block.arguments)})`] : []
    );
    return `${message.role}: ${[extractText(message.content), ...calls].join(" ").trim()}`;
  });
}

/** Returns the events of one type. */
export function eventsOfType<Type extends AgentEvent["type"]>(
  events: readonly AgentEvent[],
  type: Type,
): Extract<AgentEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: Type }> =>
    event.type === type
  );
}

function formatEvent(event: AgentEvent): string {
  switch (event.type) {
    case "turn_start":
      return `turn_start ${event.turn}`;
    case "turn_end":
      return `turn_end ${event.reason}`;
    case "message_start":
    case "message_end":
      return `${event.type} ${event.message.role}`;
    case "message_update":
      return `message_update ${event.delta.type}`;
    case "tool_execution_start":
    case "tool_execution_update":
    case "tool_execution_end":
    case "tool_approval_requested":
      return `${event.type} ${event.id}`;
    case "tool_approval_resolved":
      return `tool_approval_resolved ${event.id} ${event.decision.type}`;
    case "retry":
      return `retry ${event.attempt}${event.discard ? " discard" : ""}`;
    case "model_fallback":
      return `model_fallback ${event.to.modelId}${event.discard ? " discard" : ""}`;
    case "model_call_start":
    case "model_call_end":
      return `${event.type} ${event.attempt}`;
    case "sub_agent":
      return `sub_agent ${event.path.join("/")} ${event.event.type}`;
    case "warning":
      return `warning ${event.code}`;
    case "agent_start":
    case "agent_end":
    case "context_compacted":
    case "custom":
    case "queue_changed":
    case "model_changed":
      return event.type;
  }
}
