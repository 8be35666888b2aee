/**
 * Maps the events of a run to updates of the Agent Client Protocol.
 *
 * @module
 */

import type { FileChange } from "../../core/diff/file_change.ts";
import type { AgentEndEvent, AgentEvent, ModelCallEndEvent } from "../../core/event.ts";
import type { AssistantMessageDelta } from "../../core/stream.ts";
import type { ToolUpdate } from "../../core/tool_result.ts";
import type { AcpStopReason, AcpToolCallFields, AcpToolContent, AcpUpdate } from "./acp_update.ts";
import { toContents } from "./content.ts";
import { type DescribeCall, describeCall, toDiffs, toLocations, toPlan } from "./describe_call.ts";

/** Options for `new EventMapper()`. */
export interface EventMapperOptions {
  /** Describes the calls of tools. Default: by their names. */
  readonly describeCall?: DescribeCall | undefined;
  /** Returns an absolute path. */
  readonly toPath: (path: string) => string;
  /** Returns the context window of the model in tokens; `undefined` if it is unknown. Default: unknown. */
  readonly getContextWindow?: (() => number | undefined) | undefined;
}

/** A running tool call. */
interface RunningCall {
  readonly changes: readonly FileChange[];
}

/** Maps the events of an agent, one run after the other. */
export class EventMapper {
  readonly #options: EventMapperOptions;
  readonly #calls = new Map<string, RunningCall>();
  #messageId = "";
  #totalCost: number | null = 0;

  /** Creates a mapper. */
  constructor(options: EventMapperOptions) {
    this.#options = options;
  }

  /** Keeps the changes that a call will make, for its updates. */
  expectChanges(toolCallId: string, changes: readonly FileChange[]): void {
    this.#calls.set(toolCallId, { changes });
  }

  /** Returns the updates for an event. */
  map(event: AgentEvent): AcpUpdate[] {
    switch (event.type) {
      case "message_start":
        if (event.message.role === "assistant") this.#messageId = event.message.id ?? "";
        return [];
      case "message_update":
        return this.#mapDelta(event.delta);
      case "tool_execution_start": {
        const { id, name, arguments: rawInput } = event;
        return [{
          sessionUpdate: "tool_call_update",
          status: "in_progress",
          rawInput,
          ...this.#describe(id, { name, arguments: rawInput }),
        }];
      }
      case "tool_execution_update":
        return [{
          sessionUpdate: "tool_call_update",
          toolCallId: event.id,
          content: toUpdateContent(event.update),
        }];
      case "tool_execution_end": {
        const { id: toolCallId, isError, result } = event;
        const changes = isError ? [] : this.#calls.get(toolCallId)?.changes ?? [];
        this.#calls.delete(toolCallId);
        const diffs = toDiffs(changes, this.#options.toPath);
        const entries = toPlan(result.details);
        return [
          {
            sessionUpdate: "tool_call_update",
            toolCallId,
            status: isError ? "failed" : "completed",
            content: diffs.length > 0 ? diffs : toUpdateContent(result),
          },
          ...(entries ? [{ sessionUpdate: "plan", entries } as const] : []),
        ];
      }
      case "model_call_end":
        return this.#mapUsage(event);
      case "retry":
      case "model_fallback":
        // The protocol cannot take text back.
        return event.discard ? [this.#createText("\n\n*The reply starts again.*\n\n")] : [];
      case "sub_agent":
      case "agent_start":
      case "agent_end":
      case "turn_start":
      case "turn_end":
      case "message_end":
      case "tool_approval_requested":
      case "tool_approval_resolved":
      case "model_call_start":
      case "context_compacted":
      case "warning":
      case "custom":
      case "queue_changed":
      case "model_changed":
        return [];
    }
  }

  /** Returns the fields of a call by which the user is asked for its approval. */
  describeApproval(call: {
    readonly toolCallId: string;
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
    readonly changes?: readonly FileChange[] | undefined;
  }): AcpToolCallFields {
    const { toolCallId, name, arguments: rawInput, changes = [] } = call;
    this.expectChanges(toolCallId, changes);
    return {
      ...this.#describe(toolCallId, { name, arguments: rawInput }),
      status: "pending" as const,
      rawInput,
      content: toDiffs(changes, this.#options.toPath),
    };
  }

  #mapDelta(delta: AssistantMessageDelta): AcpUpdate[] {
    switch (delta.type) {
      case "text_delta":
        return [this.#createText(delta.delta)];
      case "thinking_delta":
        return [{
          sessionUpdate: "agent_thought_chunk",
          content: { type: "text", text: delta.delta },
          messageId: this.#messageId,
        }];
      case "tool_call_start": {
        const { id, name } = delta;
        const described = this.#describe(id, { name, arguments: {} });
        return [{ sessionUpdate: "tool_call", status: "pending", ...described }];
      }
      case "tool_call_delta":
        return [];
    }
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
    call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
  ) {
    const { describeCall: describe, toPath } = this.#options;
    const locations = toLocations(this.#calls.get(toolCallId)?.changes ?? [], toPath);
    return {
      toolCallId,
      ...describeCall(call),
      ...(locations.length > 0 && { locations }),
      ...describe?.(call),
    };
  }

  /** The context is what the last call has read and written. */
  #mapUsage({ usage, cost, error }: ModelCallEndEvent): AcpUpdate[] {
    this.#totalCost = this.#totalCost === null || cost.total === null
      ? null
      : this.#totalCost + cost.total;
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

/** Returns the reason for the end of a prompt; `undefined` if the run has failed. */
export function getStopReason(event: AgentEndEvent): AcpStopReason | undefined {
  const { stopReason, stoppedBy, error } = event;
  if (stopReason === "aborted" && !stoppedBy) return "cancelled";
  if (error?.code === "content_filtered") return "refusal";
  if (error && !stoppedBy) return undefined;
  if (stoppedBy) return "max_turn_requests";
  return stopReason === "length" ? "max_tokens" : "end_turn";
}

function toUpdateContent(update: ToolUpdate): AcpToolContent[] {
  const contents = typeof update === "string"
    ? [{ type: "text", text: update } as const]
    : toContents(update.content);
  return contents.map((content) => ({ type: "content", content }));
}
