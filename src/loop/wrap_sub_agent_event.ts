/**
 * The events of agents that tool calls run, as events of the calling run.
 *
 * @module
 */

import type { AgentEvent, SubAgentEvent } from "../core/event.ts";

/** Returns an event of an agent with the id of the tool call in its path. */
export function wrapSubAgentEvent(toolCallId: string, event: AgentEvent): SubAgentEvent {
  return event.type === "sub_agent"
    ? { type: "sub_agent", path: [toolCallId, ...event.path], event: event.event }
    : { type: "sub_agent", path: [toolCallId], event };
}
