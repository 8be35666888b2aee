/**
 * Maps the events of a run to updates of the Agent Client Protocol.
 *
 * @module
 */

import type { FileChange } from "../../core/diff/file_change.ts";
import type {
  AgentEndEvent,
  AgentEvent,
  ModelCallEndEvent,
  SubAgentEvent,
  ToolExecutionEndEvent,
} from "../../core/events/event.ts";
import { extractToolCalls } from "../../core/messages/content.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { ToolUpdate } from "../../core/messages/tool_result.ts";
import type { Cost } from "../../core/models/usage.ts";
import type { AssistantMessageDelta, BlockDeltaEvent } from "../../core/streams/stream.ts";
import type { AcpStopReason, AcpToolCallFields, AcpToolContent, AcpUpdate } from "./acp_update.ts";
import { toContents } from "./content.ts";
import {
  type CallDescriber,
  describeFor,
  toArgumentContents,
  toChange,
  toDiffs,
  toPlan,
  toTerminalId,
} from "./describe_call.ts";
import { PlanSteps } from "./plan_steps.ts";

/** Options for `new EventMapper()`. */
export interface EventMapperOptions extends CallDescriber {
  /** The messages of the session before its runs, whose cost is part of its cost. Default: none. */
  readonly history?: readonly AgentMessage[] | undefined;
  /** Returns the context window of the model in tokens; `undefined` if it is unknown. Default: unknown. */
  readonly getContextWindow?: (() => number | undefined) | undefined;
  /** Whether an id is that of a terminal of the client that the session has started. Default: none is. */
  readonly isTerminal?: ((id: string) => boolean) | undefined;
}

/** Maps the events of an agent, one run after the other. */
export class EventMapper {
  readonly #options: EventMapperOptions;
  /** The changes that calls will make. */
  readonly #changes = new Map<string, readonly FileChange[]>();
  /** Ids of the calls that the client sees as pending. */
  readonly #pending = new Set<string>();
  /** Ids of the calls that wait for an approval after their run: a prompt declines them, and they are not executed. */
  readonly #waiting: Set<string>;
  /** Ids of the calls of sub-agents that have not ended. */
  readonly #subAgentCalls = new Set<string>();
  /** Ids of the terminals that the client shows, by the ids of their calls, which have not ended. */
  readonly #terminals = new Map<string, string>();
  readonly #plan = new PlanSteps();
  #messageId = "";
  /** The first half of a character at the end of a block, whose second half may follow. */
  #half: { readonly contentIndex: number; readonly text: string } | undefined;
  #totalCost: number | null;

  /** Creates a mapper. */
  constructor(options: EventMapperOptions) {
    this.#options = options;
    const { history = [] } = options;
    this.#totalCost = sumCost(history);
    this.#waiting = listOpenCalls(history);
  }

  /** Keeps the changes that a call will make, for its updates. */
  expectChanges(toolCallId: string, changes: readonly FileChange[]): void {
    this.#changes.set(toolCallId, changes);
  }

  /** Returns the updates for an event. */
  map(event: AgentEvent): AcpUpdate[] {
    switch (event.type) {
      case "message_start":
        if (event.message.role === "assistant") this.#messageId = event.message.id ?? "";
        this.#half = undefined;
        return [];
      case "message_update":
        return this.#mapDelta(event.delta);
      case "tool_execution_start":
        this.#pending.delete(event.id);
        this.#waiting.delete(event.id);
        return [{
          sessionUpdate: "tool_call_update",
          status: "in_progress",
          rawInput: event.arguments,
          ...this.#describe(event.id, event),
        }];
      case "tool_execution_update":
        return [this.#updateCall(event.id, event.update)];
      case "tool_execution_end":
        this.#pending.delete(event.id);
        return this.#endCall(event.id, event);
      case "model_call_end":
        return this.#mapUsage(event);
      case "context_compacted":
        this.#addCost(event.report);
        return [];
      case "retry":
      case "model_fallback":
        this.#half = undefined;
        // The protocol cannot take text back.
        return event.discard
          ? [...this.#failPending(), this.#createText("\n\n*The reply starts again.*\n\n")]
          : [];
      case "sub_agent":
        return this.#mapSubAgent(event);
      case "agent_start":
        this.#changes.clear();
        return [];
      case "agent_end":
        this.#changes.clear();
        this.#terminals.clear();
        // A later run executes the calls that wait for an approval.
        for (const { toolCallId } of event.pendingApprovals ?? []) {
          this.#pending.delete(toolCallId);
          this.#waiting.add(toolCallId);
        }
        return [...this.#failPending(), ...this.#leaveSubAgents()];
      case "custom": {
        const entries = this.#plan.update(event);
        return entries ? [{ sessionUpdate: "plan", entries }] : [];
      }
      case "message_end":
        return this.#endDeclined(event.message);
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

  /** Returns the fields of a call by which the user is asked for its approval. */
  describeApproval(call: {
    readonly toolCallId: string;
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
    readonly changes?: readonly FileChange[] | undefined;
  }): AcpToolCallFields {
    const { toolCallId, changes = [] } = call;
    this.expectChanges(toolCallId, changes);
    const described = this.#describe(toolCallId, call);
    const diffs = toDiffs(changes, this.#options.toPath);
    const isShown = diffs.length > 0 && diffs.length === changes.length;
    return {
      ...described,
      status: "pending" as const,
      rawInput: call.arguments,
      content: isShown ? diffs : toArgumentContents(described.title, call.arguments),
    };
  }

  #mapDelta(delta: AssistantMessageDelta): AcpUpdate[] {
    switch (delta.type) {
      case "text_delta": {
        const text = this.#takeCharacters(delta);
        return text === "" ? [] : [this.#createText(text)];
      }
      case "thinking_delta": {
        const text = this.#takeCharacters(delta);
        if (text === "") return [];
        return [{
          sessionUpdate: "agent_thought_chunk",
          content: { type: "text", text },
          messageId: this.#messageId,
        }];
      }
      case "tool_call_start": {
        this.#pending.add(delta.id);
        const described = this.#describe(delta.id, { name: delta.name, arguments: {} });
        return [{ sessionUpdate: "tool_call", status: "pending", ...described }];
      }
      case "tool_call_delta":
        return [];
    }
  }

  /** Returns the text of a delta; a character that the provider has divided is sent with its second half. */
  #takeCharacters({ contentIndex, delta }: BlockDeltaEvent): string {
    const first = this.#half?.contentIndex === contentIndex ? this.#half.text : "";
    const text = first + delta;
    const end = text.search(/[\ud800-\udbff]$/);
    this.#half = end < 0 ? undefined : { contentIndex, text: text.slice(end) };
    return end < 0 ? text : text.slice(0, end);
  }

  #createText(text: string): AcpUpdate {
    return {
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text },
      messageId: this.#messageId,
    };
  }

  #describe(
    toolCallId: string,
    { name, arguments: args }: {
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    },
  ) {
    const changes = this.#changes.get(toolCallId);
    return { toolCallId, ...describeFor(this.#options, { name, arguments: args }, changes) };
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

  /** Ends the calls of sub-agents that work longer than the run, after which the client sees nothing of them. */
  #leaveSubAgents(): AcpUpdate[] {
    const ids = [...this.#subAgentCalls];
    this.#subAgentCalls.clear();
    return ids.map((toolCallId) => ({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "completed",
      content: [{ type: "content", content: { type: "text", text: CONTINUES } }],
    }));
  }

  #updateCall(toolCallId: string, update: ToolUpdate): AcpUpdate {
    const content = this.#toUpdateContent(update);
    for (const part of content) {
      if (part.type === "terminal") this.#terminals.set(toolCallId, part.terminalId);
    }
    return { sessionUpdate: "tool_call_update", toolCallId, content };
  }

  /** Returns the content of a result. That of a cancelled call does not know its terminal, whose output stays visible. */
  #toEndContent(toolCallId: string, result: ToolExecutionEndEvent["result"]): AcpToolContent[] {
    const content = this.#toUpdateContent(result);
    const terminalId = this.#terminals.get(toolCallId);
    this.#terminals.delete(toolCallId);
    if (terminalId === undefined || content.some(({ type }) => type === "terminal")) return content;
    return [{ type: "terminal", terminalId }, ...content];
  }

  /** Any tool may return the id of a terminal; only those of this session are shown. */
  #toUpdateContent(update: ToolUpdate): AcpToolContent[] {
    const terminalId = typeof update === "string" ? undefined : toTerminalId(update.details);
    if (terminalId !== undefined && this.#options.isTerminal?.(terminalId)) {
      return [{ type: "terminal", terminalId }];
    }
    const contents = typeof update === "string"
      ? [{ type: "text", text: update } as const]
      : toContents(update.content);
    return contents.map((content) => ({ type: "content", content }));
  }

  #endCall(
    toolCallId: string,
    { name, result, isError }: Pick<ToolExecutionEndEvent, "name" | "result" | "isError">,
  ): AcpUpdate[] {
    const change = toChange(name, result.details);
    const changes = change ? [change] : this.#changes.get(toolCallId) ?? [];
    this.#changes.delete(toolCallId);
    const diffs = isError ? [] : toDiffs(changes, this.#options.toPath);
    const content = this.#toEndContent(toolCallId, result);
    const entries = toPlan(name, result.details);
    return [
      {
        sessionUpdate: "tool_call_update",
        toolCallId,
        status: isError ? "failed" : "completed",
        content: diffs.length > 0 ? diffs : content,
      },
      ...(entries ? [{ sessionUpdate: "plan", entries } as const] : []),
    ];
  }

  /** The calls of an agent that a tool runs are calls of the session; what it writes is in the result of that tool. */
  #mapSubAgent({ path, event }: SubAgentEvent): AcpUpdate[] {
    const parent = path.join("/");
    const toId = (id: string) => `${parent}/${id}`;
    switch (event.type) {
      case "tool_execution_start": {
        this.#subAgentCalls.add(toId(event.id));
        const { title, ...described } = this.#describe(toId(event.id), event);
        return [{
          sessionUpdate: "tool_call",
          status: "in_progress",
          title,
          ...described,
          rawInput: event.arguments,
          _meta: { "swink.parentToolCallId": parent },
        }];
      }
      case "tool_execution_update":
        return [this.#updateCall(toId(event.id), event.update)];
      case "tool_execution_end":
        this.#subAgentCalls.delete(toId(event.id));
        return this.#endCall(toId(event.id), event).filter(({ sessionUpdate }) =>
          sessionUpdate !== "plan"
        );
      case "model_call_end":
        this.#addCost(event);
        return [];
      case "context_compacted":
        this.#addCost(event.report);
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

  /** Adds the cost of a model call, or of the summary of a compaction, which may have none. */
  #addCost({ cost }: { readonly cost?: Cost | undefined }): void {
    if (!cost) return;
    this.#totalCost = this.#totalCost === null || cost.total === null
      ? null
      : this.#totalCost + cost.total;
  }

  /** The context is what the last call has read and written. */
  #mapUsage(event: ModelCallEndEvent): AcpUpdate[] {
    const { usage, error } = event;
    this.#addCost(event);
    const size = this.#options.getContextWindow?.();
    if (size === undefined || error || usage.total === 0) return [];
    return [{
      sessionUpdate: "usage_update",
      used: usage.total,
      size,
      ...(this.#totalCost !== null && { cost: { amount: this.#totalCost, currency: "USD" } }),
    }];
  }
}

/** Instead of a result. */
const CONTINUES = "The sub-agent continues in the background: the end of this call is not shown";

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

/** Returns the cost of messages; `null` if that of one is unknown. */
function sumCost(messages: readonly AgentMessage[]): number | null {
  return messages.reduce<number | null>((sum, message) => {
    const cost = "cost" in message && message.cost ? message.cost.total : 0;
    return sum === null || cost === null ? null : sum + cost;
  }, 0);
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
