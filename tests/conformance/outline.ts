/**
 * Events as short lines, so that a whole run can be compared at one glance.
 *
 * @module
 */

import { extractText } from "../../src/core/content.ts";
import type { AgentEvent } from "../../src/core/event.ts";
import type { AgentMessage } from "../../src/core/message.ts";

/** One line per event: its type, and the property that distinguishes it. */
export function outlineEvents(events: readonly AgentEvent[]): string[] {
  return events.map(formatEvent);
}

/** One line per message: its role and its text, or its calls. */
export function outlineMessages(messages: readonly AgentMessage[]): string[] {
  return messages.map((message) => {
    if (message.role === "custom") return `custom: ${message.type}`;
    const calls = message.content.flatMap((block) =>
      block.type === "tool_call" ? [`${block.name}(${JSON.stringify(block.arguments)})`] : []
    );
    return `${message.role}: ${[extractText(message.content), ...calls].join(" ").trim()}`;
  });
}

/** The events of one type. */
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
      return `model_fallback ${event.to.modelId}`;
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
