/**
 * Compares the spending of a run with the budget of its case.
 *
 * @module
 */

import type { EvalBudget } from "../case/eval_case.ts";
import { hasWorked } from "../trajectory/has_worked.ts";
import { isAtMost } from "./compare_limit.ts";
import type { Evaluator } from "./evaluator.ts";
import { formatDollars } from "./format_dollars.ts";
import { createBinaryScore } from "./score.ts";

/** Spending that a budget limits. */
export interface BudgetSpending {
  /** Cost in US dollars; `null` if it is unknown. */
  readonly cost: number | null;
  /** Tokens, of input and output. */
  readonly tokens: number;
  /** Turns. */
  readonly turns: number;
  /** Duration in milliseconds. */
  readonly durationMs: number;
}

/** Returns a description of each limit that the spending exceeds; an unknown cost exceeds any limit of the cost. */
export function findExceededLimits(
  { maxCost, maxTokens, maxTurns, maxDurationMs }: EvalBudget,
  { cost, tokens, turns, durationMs }: BudgetSpending,
): string[] {
  const exceeded: string[] = [];
  if (maxCost !== undefined) {
    if (cost === null) {
      exceeded.push(`The cost is unknown, and limited to ${formatDollars(maxCost)}`);
    } else if (!isAtMost(cost, maxCost)) {
      exceeded.push(`The cost of ${formatDollars(cost)} exceeds ${formatDollars(maxCost)}`);
    }
  }
  if (maxTokens !== undefined && tokens > maxTokens) {
    exceeded.push(`${tokens} tokens exceed ${maxTokens}`);
  }
  if (maxTurns !== undefined && turns > maxTurns) {
    exceeded.push(`${turns} turns exceed ${maxTurns}`);
  }
  if (maxDurationMs !== undefined && durationMs > maxDurationMs) {
    exceeded.push(`${Math.round(durationMs)} ms exceed ${maxDurationMs} ms`);
  }
  return exceeded;
}

/**
 * Creates the evaluator `budget`, which applies to cases with a `budget`. A model that reports no token counts exceeds any
 * limit of the tokens.
 */
export function createBudgetEvaluator(): Evaluator {
  const name = "budget";
  return {
    name,
    optionNames: [],
    evaluate: ({ evalCase: { budget }, trajectory, durationMs }) => {
      if (!budget) return undefined;
      const { usage, cost, turns } = trajectory;
      const spending = { cost: cost.total, tokens: usage.total, turns, durationMs };
      const exceeded = findExceededLimits(budget, spending);
      // Servers without token counts report 0.
      if (budget.maxTokens !== undefined && usage.total === 0 && hasWorked(trajectory)) {
        exceeded.push(`The model reports no tokens, which are limited to ${budget.maxTokens}`);
      }
      return createBinaryScore(name, exceeded.length === 0, exceeded.join("; ") || undefined);
    },
  };
}
