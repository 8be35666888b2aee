/**
 * Collects the trajectory of a run from its events.
 *
 * @module
 */

import type { AgentEndEvent, AgentEvent, ModelCallEndEvent } from "../../core/events/event.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { AssistantMessage } from "../../core/messages/message.ts";
import type { AgentToolResult } from "../../core/messages/tool_result.ts";
import type { StopReason } from "../../core/models/model.ts";
import {
  addCost,
  addUsage,
  type Cost,
  type Usage,
  zeroCost,
  zeroUsage,
} from "../../core/models/usage.ts";
import type {
  Trajectory,
  TrajectoryCall,
  TrajectoryOutcome,
  TrajectoryReply,
} from "./trajectory.ts";

/** Options for `TrajectoryCollector`. */
export interface TrajectoryCollectorOptions {
  /** Returns the time in milliseconds. Default: the clock of the system. */
  readonly now?: (() => number) | undefined;
}

/**
 * Collects the tool calls, the answer and the spending of one or more runs of an agent. Calls that were refused or failed
 * are included, and the calls of sub-agents are part of the call that runs the agent.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { TrajectoryCollector } from "@swink/agent/eval";
 * import { fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";
 *
 * const streamFn = scriptedStream([reply([toolCall("add", { left: 2 })]), reply("Done")]);
 * const agent = new Agent({ model: "test/model", streamFn, tools: [fakeTool({ name: "add" })] });
 * const collector = new TrajectoryCollector();
 * for await (const event of agent.promptStream("Add")) collector.add(event);
 *
 * collector.trajectory.calls[0]?.tool; // "add"
 * collector.trajectory.response; // "Done"
 * ```
 */
export class TrajectoryCollector {
  readonly #calls: CallRecord[] = [];
  /** The calls of the current reply; ids may repeat in later turns. */
  readonly #open = new Map<string, CallRecord>();
  readonly #replies: TrajectoryReply[] = [];
  readonly #now: () => number;
  #prompts = 0;
  #modelCalls: ModelCallTotals = NO_MODEL_CALLS;
  #turns = 0;
  #response = "";
  #stopReason: StopReason | undefined;
  #usage: Usage = zeroUsage();
  #cost: Cost = zeroCost();
  #error: string | undefined;
  #stoppedBy: string | undefined;

  /** Creates a collector without events. */
  constructor({ now = Date.now }: TrajectoryCollectorOptions = {}) {
    this.#now = now;
  }

  /** Adds an event, in the order of the run. */
  add(event: AgentEvent): void {
    switch (event.type) {
      case "agent_start":
        this.#prompts++;
        return;
      case "turn_start":
        this.#turns++;
        this.#open.clear();
        this.#modelCalls = NO_MODEL_CALLS;
        return;
      case "model_call_end":
        this.#modelCalls = addModelCall(this.#modelCalls, event);
        return;
      case "message_end":
        if (event.message.role === "assistant") this.#addReply(event.message);
        return;
      case "tool_execution_start":
        Object.assign(this.#findCall(event), {
          arguments: event.arguments,
          startedAt: this.#now(),
        });
        return;
      case "tool_approval_resolved": {
        const call = this.#open.get(event.id);
        if (call && event.decision.type === "denied") call.isDenied = true;
        return;
      }
      case "tool_execution_end":
        Object.assign(this.#findCall({ ...event, arguments: {} }), {
          result: event,
          endedAt: this.#now(),
        });
        return;
      case "sub_agent":
        this.#addNested(event.path, event.event);
        return;
      case "agent_end":
        this.#endRun(event);
        return;
      default:
        return;
    }
  }

  /** The trajectory so far. */
  get trajectory(): Trajectory {
    return {
      calls: this.#calls.map(toCall),
      replies: [...this.#replies],
      turns: this.#turns,
      response: this.#response,
      stopReason: this.#stopReason,
      usage: this.#usage,
      cost: this.#cost,
      ...(this.#error !== undefined && { error: this.#error }),
      ...(this.#stoppedBy !== undefined && { stoppedBy: this.#stoppedBy }),
    };
  }

  /** Records the calls of a reply before they are validated, so that those that never start are included. */
  #addReply(message: AssistantMessage): void {
    this.#response = getText(message.content);
    this.#replies.push({
      prompt: this.#prompts,
      turn: this.#turns,
      text: this.#response,
      ...this.#modelCalls,
    });
    for (const block of message.content) {
      if (block.type === "tool_call") this.#findCall(block);
    }
  }

  #findCall(
    { id, name, arguments: args }: { id: string; name: string; arguments: JsonObject },
  ): CallRecord {
    const known = this.#open.get(id);
    if (known) return known;
    const call: CallRecord = { id, tool: name, arguments: args, turn: this.#turns };
    this.#open.set(id, call);
    this.#calls.push(call);
    return call;
  }

  #addNested([id, ...rest]: readonly string[], event: AgentEvent): void {
    if (id === undefined) return;
    // An agent can outlive the turn of its call.
    const call = this.#open.get(id) ?? this.#calls.findLast((candidate) => candidate.id === id);
    if (!call) return;
    call.nested ??= new TrajectoryCollector({ now: this.#now });
    call.nested.add(rest.length > 0 ? { type: "sub_agent", path: rest, event } : event);
  }

  #endRun({ usage, cost, error, stopReason, stoppedBy }: AgentEndEvent): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#cost = addCost(this.#cost, cost);
    this.#stopReason = stopReason;
    this.#error = error?.message;
    this.#stoppedBy = stoppedBy?.reason;
  }
}

/** Totals of the model calls of a turn. */
type ModelCallTotals = Pick<TrajectoryReply, "tokens" | "cost" | "durationMs">;

const NO_MODEL_CALLS: ModelCallTotals = { tokens: 0, cost: 0, durationMs: 0 };

function addModelCall(
  { tokens, cost, durationMs }: ModelCallTotals,
  call: ModelCallEndEvent,
): ModelCallTotals {
  return {
    tokens: tokens + call.usage.total,
    cost: cost === null || call.cost.total === null ? null : cost + call.cost.total,
    durationMs: durationMs + call.durationMs,
  };
}

interface CallRecord {
  readonly id: string;
  readonly tool: string;
  arguments: JsonObject;
  readonly turn: number;
  isDenied?: boolean;
  startedAt?: number;
  endedAt?: number;
  result?: { readonly result: AgentToolResult; readonly isError: boolean };
  nested?: TrajectoryCollector;
}

function toCall(record: CallRecord): TrajectoryCall {
  const { id, tool, arguments: args, turn, result, startedAt, endedAt, nested } = record;
  const hasTimes = startedAt !== undefined && endedAt !== undefined;
  return {
    id,
    tool,
    arguments: args,
    turn,
    outcome: getOutcome(record),
    result: result ? getText(result.result.content) : "",
    ...(hasTimes && { durationMs: Math.max(0, endedAt - startedAt) }),
    calls: nested?.trajectory.calls ?? [],
  };
}

function getOutcome({ isDenied, result }: CallRecord): TrajectoryOutcome {
  if (isDenied) return "denied";
  if (!result) return "unfinished";
  return result.isError ? "failed" : "completed";
}

interface TextSource {
  readonly type: string;
  readonly text?: string;
}

function getText(content: readonly TextSource[]): string {
  return content.map(({ type, text = "" }) => type === "text" ? text : "").join("");
}
