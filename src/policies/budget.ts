/**
 * A policy that limits cost, tokens and time.
 *
 * @module
 */

import { BadRequestError } from "../core/errors.ts";
import type { ContinueVerdict, OnDeltaContext, Policy, StopVerdict } from "../core/policy.ts";
import {
  addCost,
  type Cost,
  findRates,
  type Prices,
  priceUsage,
  type Usage,
  zeroCost,
  zeroUsage,
} from "../core/usage.ts";

/** Limits of a run. Default of each limit: none. */
export interface BudgetOptions {
  /** Maximum cost, in the currency of the prices. */
  readonly cost?: number;
  /** Maximum total number of tokens. */
  readonly tokens?: number;
  /** Maximum duration, in milliseconds. */
  readonly elapsedMs?: number;
  /**
   * Prices for the estimated cost of a reply while it streams. Default: none; `cost` is then checked before each turn
   * only.
   */
  readonly prices?: Prices;
}

/** Average of most tokenizers for English text and code. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Creates a policy that stops a run when a limit is reached. The limits are checked before each turn and while a reply
 * streams, with its tokens estimated; an aborted reply keeps its text so far.
 *
 * @throws {BadRequestError} If a limit is negative or `NaN`.
 *
 * @example
 * ```ts
 * import { budget } from "@swink/agent/policies";
 *
 * const policies = [budget({ cost: 0.5, elapsedMs: 10 * 60_000 })];
 * ```
 */
export function budget(options: BudgetOptions): Policy {
  for (const name of ["cost", "tokens", "elapsedMs"] as const) {
    const limit = options[name];
    if (limit !== undefined && !(limit >= 0)) {
      throw new BadRequestError(
        `Invalid budget: ${name} must be a number of at least 0, not ${limit}`,
      );
    }
  }
  return {
    name: "budget",
    preTurn: (context) => checkLimits(options, context),
    onDelta: (context) => checkLimits(options, estimateTotals(context, options.prices)),
  };
}

interface RunTotals {
  readonly usage: Usage;
  readonly cost: Cost;
  readonly elapsedMs: number;
}

function checkLimits(limits: BudgetOptions, totals: RunTotals): ContinueVerdict | StopVerdict {
  const { cost, tokens, elapsedMs } = limits;
  if (cost !== undefined && totals.cost.total === null) {
    return { type: "stop", reason: "The cost limit cannot be checked: price unknown" };
  }
  if (cost !== undefined && totals.cost.total !== null && totals.cost.total >= cost) {
    return createStopVerdict(`the cost limit of ${cost}`);
  }
  if (tokens !== undefined && totals.usage.total >= tokens) {
    return createStopVerdict(`the limit of ${tokens} tokens`);
  }
  if (elapsedMs !== undefined && totals.elapsedMs >= elapsedMs) {
    return createStopVerdict(`the time limit of ${elapsedMs} ms`);
  }
  return { type: "continue" };
}

/** Estimates the totals of the run including the reply so far. */
function estimateTotals(context: OnDeltaContext, prices: Prices | undefined): RunTotals {
  const { usage, cost, elapsedMs, characters, model } = context;
  const output = Math.ceil(characters / CHARACTERS_PER_TOKEN);
  const rates = prices && findRates(prices, model);
  const replyCost = rates ? priceUsage({ ...zeroUsage(), output }, rates) : zeroCost();
  return {
    usage: { ...usage, total: usage.total + output },
    cost: addCost(cost, replyCost),
    elapsedMs,
  };
}

function createStopVerdict(limit: string): StopVerdict {
  return { type: "stop", reason: `The run reached ${limit}` };
}
