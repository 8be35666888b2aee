/**
 * The updates of the agents that tools run.
 *
 * @module
 */

import type { SubAgentEvent, ToolExecutionStartEvent } from "../../core/events/event.ts";
import type { AcpUpdate } from "./acp_update.ts";
import type { CallUpdates } from "./call_updates.ts";
import type { SessionCost } from "./session_cost.ts";

/** Maps the events of sub-agents: their calls are calls of the session; what they write is in the result of their tool. */
export class SubAgentUpdates {
  readonly #calls: CallUpdates;
  readonly #cost: SessionCost;
  /** Ids of the calls that have not ended. */
  readonly #open = new Set<string>();

  /** Creates it for the calls and the cost of the session. */
  constructor(calls: CallUpdates, cost: SessionCost) {
    this.#calls = calls;
    this.#cost = cost;
  }

  /** Returns the updates for an event. */
  map({ path, event }: SubAgentEvent): AcpUpdate[] {
    const parent = path.join("/");
    const toId = (id: string) => `${parent}/${id}`;
    switch (event.type) {
      case "tool_execution_start":
        return [this.#startCall(toId(event.id), event, parent)];
      case "tool_execution_update":
        return [this.#calls.update(toId(event.id), event.update)];
      case "tool_execution_end":
        this.#open.delete(toId(event.id));
        return [this.#calls.end(toId(event.id), event)];
      case "model_call_end":
        this.#cost.add(event);
        return [];
      case "context_compacted":
        this.#cost.add(event.report);
        return [];
      case "sub_agent":
      case "agent_start":
      case "agent_end":
      case "turn_start":
      case "turn_end":
      case "message_start":
      case "message_update":
      case "message_end":
      case "retry":
      case "model_fallback":
      case "tool_approval_requested":
      case "tool_approval_resolved":
      case "model_call_start":
      case "warning":
      case "custom":
      case "queue_changed":
      case "model_changed":
        return [];
      default:
        return event satisfies never;
    }
  }

  /** Ends the calls of sub-agents that work longer than the run, after which the client sees nothing of them. */
  endRun(): AcpUpdate[] {
    const ids = [...this.#open];
    this.#open.clear();
    return ids.map((toolCallId) => ({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "completed",
      content: [{ type: "content", content: { type: "text", text: CONTINUES } }],
    }));
  }

  #startCall(id: string, event: ToolExecutionStartEvent, parent: string): AcpUpdate {
    this.#open.add(id);
    const { title, ...described } = this.#calls.describe(id, event);
    return {
      sessionUpdate: "tool_call",
      status: "in_progress",
      title,
      ...described,
      rawInput: event.arguments,
      _meta: { "swink.parentToolCallId": parent },
    };
  }
}

/** Instead of a result. */
const CONTINUES = "The sub-agent continues in the background: the end of this call is not shown";
