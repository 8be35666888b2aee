/**
 * Adds up what the agents of a tool spend, from their events.
 *
 * @module
 */

import type { AgentEvent } from "../../core/events/event.ts";
import { type LateSpending, zeroCost, zeroUsage } from "../../core/models/usage.ts";
import { toValidSpending } from "../../core/models/valid_usage.ts";
import { addSpending, type RunProgress, type StepSpending } from "./run_progress.ts";

/** The spending of the agents that one tool call runs; known even if the call never returns. */
export class SubAgentSpending {
  #total = { usage: zeroUsage(), cost: zeroCost() };
  /** The paths of the tool calls that run agents; what these calls report is counted already. */
  readonly #agentPaths = new Set<string>();

  /** Spending so far. */
  get total(): StepSpending {
    return this.#total;
  }

  /** Counts an event of an agent, or of an agent that is its tool; returns what it adds. */
  add(event: AgentEvent): StepSpending {
    const added = this.#getSpending(event);
    this.#total = addSpending(this.#total, added);
    return added;
  }

  #getSpending(event: AgentEvent): StepSpending {
    const { path, event: own } = event.type === "sub_agent" ? event : { path: [], event };
    switch (own.type) {
      case "model_call_end":
        this.#agentPaths.add(formatPath(path));
        return toValidSpending(own);
      case "context_compacted":
        return toValidSpending(own.report);
      case "tool_execution_end":
        if (this.#agentPaths.has(formatPath([...path, own.id]))) return {};
        return toValidSpending(own.result);
      default:
        return {};
    }
  }
}

/** Counts the spending of agents after the end of the tool calls that run them: of cancelled calls and in the background. */
export class LateSpendingCounter {
  #pending: LateSpending[] = [];

  /** Counts spending of a tool call. */
  add(toolCallId: string, { usage, cost }: StepSpending): void {
    if (!usage && !cost) return;
    this.#pending.push({ toolCallId, usage: usage ?? zeroUsage(), cost: cost ?? zeroCost() });
  }

  /** Adds what has not been added yet to the totals of the run. */
  addTo(progress: RunProgress): RunProgress {
    const pending = this.#pending;
    this.#pending = [];
    return pending.reduce(addLateSpending, progress);
  }
}

function addLateSpending(progress: RunProgress, late: LateSpending): RunProgress {
  const { lateSpending = [] } = progress;
  const { toolCallId } = late;
  const previous = lateSpending.find((call) => call.toolCallId === toolCallId);
  const others = lateSpending.filter((call) => call !== previous);
  const call = previous ? addSpending(previous, late) : late;
  return { ...addSpending(progress, late), lateSpending: [...others, call] };
}

function formatPath(ids: readonly string[]): string {
  return JSON.stringify(ids);
}
