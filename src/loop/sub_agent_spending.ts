/**
 * Adds up what the agents of a tool spend, from their events.
 *
 * @module
 */

import type { AgentEvent } from "../core/event.ts";
import { toValidSpending, zeroCost, zeroUsage } from "../core/usage.ts";
import { addSpending, type Spending } from "./run_progress.ts";

/** The spending of the agents that one tool call runs; known even if the call never returns. */
export class SubAgentSpending {
  #total = { usage: zeroUsage(), cost: zeroCost() };
  /** The paths of the tool calls that run agents; what these calls report is counted already. */
  readonly #agentPaths = new Set<string>();

  /** Spending so far. */
  get total(): Spending {
    return this.#total;
  }

  /** Counts an event of an agent, or of an agent that is its tool. */
  add(event: AgentEvent): void {
    const { path, event: own } = event.type === "sub_agent" ? event : { path: [], event };
    switch (own.type) {
      case "model_call_end":
        this.#agentPaths.add(formatPath(path));
        this.#total = addSpending(this.#total, own);
        return;
      case "context_compacted":
        this.#total = addSpending(this.#total, own.report);
        return;
      case "tool_execution_end":
        if (this.#agentPaths.has(formatPath([...path, own.id]))) return;
        this.#total = addSpending(this.#total, toValidSpending(own.result));
    }
  }
}

function formatPath(ids: readonly string[]): string {
  return JSON.stringify(ids);
}
