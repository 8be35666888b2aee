/**
 * Checks before a request or a tool call whether its worst case fits a budget.
 *
 * @module
 */

import type { PreDispatchContext, SkipVerdict, StopVerdict } from "../core/hooks/policy.ts";
import type { Cost } from "../core/models/usage.ts";
import { type BudgetOptions, checkPrice, getPreflightOptions, isLimit } from "./budget_limits.ts";
import { addSpending, isKnownAmount, type Spending } from "./run_spending.ts";
import type { ToolTime } from "./tool_time.ts";

/** The spending on which the check of a request depends. */
export interface SpendingState {
  /** Spending so far. */
  readonly spent: Spending;
  /** The most that other requests may still spend. */
  readonly reserved: Spending;
  /** The most that the request can spend. */
  readonly worstCase: Spending;
  /** Time so far, in milliseconds. */
  readonly elapsedMs: number;
}

/** Stops if a request could exceed a limit; the reason has its worst case. */
export function checkRequest(limits: BudgetOptions, state: SpendingState): StopVerdict | undefined {
  const { spent, reserved, worstCase } = state;
  const { usage, cost } = [spent, reserved, worstCase].reduce(addSpending);
  if (isLimit(limits.cost)) {
    const unknown = checkPrice(limits, cost);
    if (unknown) return unknown;
    if (isKnownAmount(cost.total) && cost.total > limits.cost) {
      const parts = [spent, reserved, worstCase].map((part) => formatCost(part.cost));
      return refuse(`the cost limit of ${limits.cost}`, parts);
    }
  }
  if (isLimit(limits.tokens) && !(usage.total <= limits.tokens)) {
    const parts = [spent, reserved, worstCase].map((part) => `${part.usage.total} tokens`);
    return refuse(`the limit of ${limits.tokens} tokens`, parts);
  }
  return checkRequestTime(limits, state.elapsedMs);
}

function checkRequestTime(limits: BudgetOptions, elapsedMs: number): StopVerdict | undefined {
  const { maxRequestMs = 0 } = getPreflightOptions(limits);
  if (!isLimit(limits.elapsedMs) || elapsedMs + maxRequestMs <= limits.elapsedMs) return undefined;
  const reason = `The next request could exceed the time limit of ${limits.elapsedMs} ms: ` +
    `${elapsedMs} ms are spent, and it could take up to ${maxRequestMs} ms`;
  return { type: "stop", reason };
}

function refuse(limit: string, [spent, reserved, worstCase]: readonly string[]): StopVerdict {
  const reason =
    `The next request could exceed ${limit}: ${spent} are spent, ${reserved} are reserved for ` +
    `other requests, and it could spend up to ${worstCase}`;
  return { type: "stop", reason };
}

/** Formats a cost with the digits that matter for small amounts. */
function formatCost({ total }: Cost): string {
  return total === null ? "unknown costs" : `${Number(total.toPrecision(4))}`;
}

/**
 * Reserves the time that a call may take, or refuses the call if that could exceed the limit; the reason has that time.
 * A call without a timeout takes up to `maxToolMs`; without that, it is refused only if no time is left.
 */
export function reserveCall(
  limits: BudgetOptions,
  { runId, toolCallId, tool, timeoutMs }: PreDispatchContext,
  time: ToolTime,
): SkipVerdict | undefined {
  const limit = limits.toolMs;
  if (!isLimit(limit)) return undefined;
  const maxMs = timeoutMs ?? getPreflightOptions(limits).maxToolMs ?? 0;
  const call = { runId, toolCallId };
  // The policies are called again when an approval edits the arguments.
  time.cancel(call);
  const { spentMs, reservedMs } = time;
  const remaining = limit - spentMs - reservedMs;
  if (remaining > 0 && maxMs <= remaining) {
    time.reserve(call, maxMs);
    return undefined;
  }
  const reason =
    `the tool "${tool.name}" may take up to ${maxMs} ms, but of the limit of ${limit} ms for tool ` +
    `calls ${spentMs} ms are spent and ${reservedMs} ms are reserved for calls that run`;
  return { type: "skip", reason };
}
