/**
 * Maps the events of a run to updates of the Agent Client Protocol.
 *
 * @module
 */

import type { FileChange } from "../../core/diff/file_change.ts";
import type {
  AgentEndEvent,
  AgentEvent,
  CustomEvent,
  MessageStartEvent,
  ModelCallEndEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
} from "../../core/events/event.ts";
import { extractToolCalls } from "../../core/messages/content.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { AssistantMessageDelta } from "../../core/streams/stream.ts";
import type { AcpStopReason, AcpToolCallFields, AcpUpdate } from "./acp_update.ts";
import { type ApprovedCall, CallUpdates, type CallUpdatesOptions } from "./call_updates.ts";
import { toPlan } from "./describe_call.ts";
import { PlanSteps } from "./plan_steps.ts";
import { ReplyUpdates } from "./reply_updates.ts";
import { SessionCost } from "./session_cost.ts";
import { SubAgentUpdates } from "./sub_agent_updates.ts";

/** Options for `new EventMapper()`. */
export interface EventMapperOptions extends CallUpdatesOptions {
  /** The messages of the session before its runs, whose cost is part of its cost. Default: none. */
  readonly history?: readonly AgentMessage[] | undefined;
  /** Returns the context window of the model in tokens; `undefined` if it is unknown. Default: unknown. */
  readonly getContextWindow?: (() => number | undefined) | undefined;
}

/** Maps the events of an agent, one run after the other. */
export class EventMapper {
  readonly #options: EventMapperOptions;
  readonly #reply = new ReplyUpdates();
  readonly #calls: CallUpdates;
  /** Ids of the calls that the client sees as pending. */
  readonly #pending = new Set<string>();
  /** Ids of the calls that wait for an approval after their run: a prompt declines them, and they are not executed. */
  readonly #waiting: Set<string>;
  readonly #subAgents: SubAgentUpdates;
  readonly #plan = new PlanSteps();
  readonly #cost: SessionCost;

  /** Creates a mapper. */
  constructor(options: EventMapperOptions) {
    this.#options = options;
    const { history = [] } = options;
    this.#calls = new CallUpdates(options);
    this.#waiting = listOpenCalls(history);
    this.#cost = new SessionCost(history);
    this.#subAgents = new SubAgentUpdates(this.#calls, this.#cost);
  }

  /** Keeps the changes that a call will make, for its updates. */
  expectChanges(toolCallId: string, changes: readonly FileChange[]): void {
    this.#calls.expectChanges(toolCallId, changes);
  }

  /** Returns the fields of a call by which the user is asked for its approval. */
  describeApproval(call: ApprovedCall): AcpToolCallFields {
    return this.#calls.describeApproval(call);
  }

  /** Returns the updates for an event. */
  map(event: AgentEvent): AcpUpdate[] {
    switch (event.type) {
      case "agent_start":
        this.#calls.startRun();
        return [];
      case "agent_end":
        return this.#endRun(event);
      case "message_start":
        this.#startMessage(event);
        return [];
      case "message_update":
        return this.#mapDelta(event.delta);
      case "message_end":
        return this.#endDeclined(event.message);
      case "tool_execution_start":
        return [this.#startCall(event)];
      case "tool_execution_update":
        return [this.#calls.update(event.id, event.update)];
      case "tool_execution_end":
        this.#pending.delete(event.id);
        return this.#endCall(event.id, event);
      case "model_call_end":
        return this.#mapUsage(event);
      case "context_compacted":
        this.#cost.add(event.report);
        return [];
      case "retry":
      case "model_fallback":
        this.#reply.endBlock();
        return event.discard ? this.#discard() : [];
      case "sub_agent":
        return this.#subAgents.map(event);
      case "custom":
        return this.#mapPlan(event);
      case "turn_start":
      case "turn_end":
      case "tool_approval_requested":
      case "tool_approval_resolved":
      case "model_call_start":
      case "warning":
      case "queue_changed":
      case "model_changed":
        return [];
      default:
        return event satisfies never;
    }
  }

  #endRun({ pendingApprovals = [] }: AgentEndEvent): AcpUpdate[] {
    this.#calls.endRun();
    // A later run executes the calls that wait for an approval.
    for (const { toolCallId } of pendingApprovals) {
      this.#pending.delete(toolCallId);
      this.#waiting.add(toolCallId);
    }
    return [...this.#failPending(), ...this.#subAgents.endRun()];
  }

  #startMessage({ message }: MessageStartEvent): void {
    if (message.role === "assistant") this.#reply.start(message.id ?? "");
    this.#reply.endBlock();
  }

  #mapDelta(delta: AssistantMessageDelta): AcpUpdate[] {
    switch (delta.type) {
      case "text_delta":
        return this.#reply.append("text", delta);
      case "thinking_delta":
        return this.#reply.append("thinking", delta);
      case "tool_call_start": {
        this.#pending.add(delta.id);
        const described = this.#calls.describe(delta.id, { name: delta.name, arguments: {} });
        return [{ sessionUpdate: "tool_call", status: "pending", ...described }];
      }
      case "tool_call_delta":
        return [];
    }
  }

  /** Ends a failed attempt. The protocol cannot take its text back. */
  #discard(): AcpUpdate[] {
    return [...this.#failPending(), this.#reply.createText("\n\n*The reply starts again.*\n\n")];
  }

  /** Ends the calls that are not executed: those of a reply that was discarded or cut off. */
  #failPending(): AcpUpdate[] {
    const ids = [...this.#pending];
    this.#pending.clear();
    return ids.map((toolCallId) => ({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "failed",
    }));
  }

  /** Ends a call that waits for an approval: the prompt that declines it has its result, but no execution. */
  #endDeclined(message: AgentMessage): AcpUpdate[] {
    if (message.role !== "tool_result" || !this.#waiting.delete(message.toolCallId)) return [];
    const { toolCallId, toolName: name, content, isError } = message;
    return this.#endCall(toolCallId, { name, result: { content }, isError });
  }

  #startCall(event: ToolExecutionStartEvent): AcpUpdate {
    this.#pending.delete(event.id);
    this.#waiting.delete(event.id);
    return {
      sessionUpdate: "tool_call_update",
      status: "in_progress",
      rawInput: event.arguments,
      ...this.#calls.describe(event.id, event),
    };
  }

  #endCall(
    toolCallId: string,
    ended: Pick<ToolExecutionEndEvent, "name" | "result" | "isError">,
  ): AcpUpdate[] {
    const update = this.#calls.end(toolCallId, ended);
    const entries = toPlan(ended.name, ended.result.details);
    return entries ? [update, { sessionUpdate: "plan", entries }] : [update];
  }

  #mapPlan(event: CustomEvent): AcpUpdate[] {
    const entries = this.#plan.update(event);
    return entries ? [{ sessionUpdate: "plan", entries }] : [];
  }

  /** The context is what the last call has read and written. */
  #mapUsage(event: ModelCallEndEvent): AcpUpdate[] {
    const { usage, error } = event;
    this.#cost.add(event);
    const size = this.#options.getContextWindow?.();
    if (size === undefined || error || usage.total === 0) return [];
    const { total } = this.#cost;
    return [{
      sessionUpdate: "usage_update",
      used: usage.total,
      size,
      ...(total !== null && { cost: { amount: total, currency: "USD" } }),
    }];
  }
}

/** Returns the ids of the calls that have no result. */
function listOpenCalls(messages: readonly AgentMessage[]): Set<string> {
  const ids = new Set<string>();
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const { id } of extractToolCalls(message.content)) ids.add(id);
    }
    if (message.role === "tool_result") ids.delete(message.toolCallId);
  }
  return ids;
}

/** Returns the reason for the end of a prompt; `undefined` if the run has failed. */
export function getStopReason(event: AgentEndEvent): AcpStopReason | undefined {
  const { stopReason, stoppedBy, error } = event;
  if (stopReason === "aborted" && !stoppedBy) return "cancelled";
  if (error?.code === "content_filtered") return "refusal";
  if (error && !stoppedBy) return undefined;
  if (stoppedBy) return "max_turn_requests";
  return stopReason === "length" ? "max_tokens" : "end_turn";
}
