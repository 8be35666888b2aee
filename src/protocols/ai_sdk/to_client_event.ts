/**
 * The events that a page gets apart from its messages.
 *
 * @module
 */

import type { AgentEvent, SubAgentEvent } from "../../core/events/event.ts";

/**
 * Returns what a page may know about an event; `undefined` if that is nothing. The messages of the server, which the
 * report of a compaction and the events of sub-agents have, stay there, and so do the texts of warnings, which name files.
 */
export function toClientEvent(event: AgentEvent): object | undefined {
  switch (event.type) {
    case "retry": {
      const { attempt, delayMs, error, discard } = event;
      return { attempt, delayMs, discard, error: { code: error.code, message: error.message } };
    }
    case "model_fallback":
    case "model_changed":
      return { from: event.from, to: event.to };
    case "warning":
      return { code: event.code };
    case "context_compacted": {
      const { droppedMessages: _dropped, ...report } = event.report;
      return report;
    }
    case "sub_agent":
      return toSubAgentEvent(event);
    default:
      return undefined;
  }
}

function toSubAgentEvent({ path, event }: SubAgentEvent): object | undefined {
  switch (event.type) {
    case "agent_start":
      return { path, event: { type: event.type } };
    case "agent_end":
      return { path, event: { type: event.type, stopReason: event.stopReason } };
    case "message_update":
      return { path, event: { type: event.type, delta: event.delta } };
    case "tool_execution_start": {
      const { type, id, name, arguments: args } = event;
      return { path, event: { type, id, name, arguments: args } };
    }
    case "tool_execution_end": {
      const { type, id, name, isError } = event;
      return { path, event: { type, id, name, isError } };
    }
    default:
      return undefined;
  }
}
