/**
 * The events that a page gets apart from its messages.
 *
 * @module
 */

import type { AgentEvent, SubAgentEvent } from "../../core/events/event.ts";
import { toClientEvent } from "../web_client/to_client_event.ts";

/** Returns what a page may know about an event; `undefined` if that is nothing. */
export function toPageEvent(event: AgentEvent): object | undefined {
  switch (event.type) {
    case "retry":
    case "model_fallback":
    case "model_changed":
    case "warning":
    case "context_compacted":
      return toClientEvent(event);
    case "sub_agent":
      return toSubAgentEvent(event);
    default:
      return undefined;
  }
}

/** Returns the texts and calls of an agent that a tool runs. Its messages stay on the server. */
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
