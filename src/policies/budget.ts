/**
 * A limit on money, tokens and time.
 *
 * @module
 */

import { BadRequestError } from "../core/errors.ts";
import type { ContinueVerdict, OnDeltaContext, Policy, StopVerdict } from "../core/policy.ts";
import {
  type Cost,
  findRates,
  type Prices,
  priceUsage,
  type Usage,
  zeroUsage,
} from "../core/usage.ts";

/** Limits of one run; each counts from its start, and one that is left out does not bind. */
export interface BudgetOptions {
  /** Most money, in the currency of the prices. */
  readonly cost?: number;
  /** Most tokens, all kinds together. */
  readonly tokens?: number;
  /** Longest time, in milliseconds. */
  readonly elapsedMs?: number;
  /**
   * Prices by which a reply is reckoned while it streams. Default: none; the cost is then looked at between
   * replies only.
   */
  readonly prices?: Prices;
}

/** What most tokenizers make of a token of English or code. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Ends a run as soon as a limit is reached: before a turn, and in the middle of a reply, whose text so far is
 * kept. Tokens of a reply that still streams are estimated.
 *
 * @throws {BadRequestError} When a limit is negative or not a number.
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
        `The budget's ${name} must be a number of at least 0, not ${limit}`,
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

function checkLimits(limits: BudgetOptions, spent: RunTotals): ContinueVerdict | StopVerdict {
  const { cost, tokens, elapsedMs } = limits;
  if (cost !== undefined && spent.cost.total >= cost) {
    return createStopVerdict(`the cost limit of ${cost}`);
  }
  if (tokens !== undefined && spent.usage.total >= tokens) {
    return createStopVerdict(`the limit of ${tokens} tokens`);
  }
  if (elapsedMs !== undefined && spent.elapsedMs >= elapsedMs) {
    return createStopVerdict(`the time limit of ${elapsedMs} ms`);
  }
  return { type: "continue" };
}

/** What the run will have spent if the reply ended now. */
function estimateTotals(context: OnDeltaContext, prices: Prices | undefined): RunTotals {
  const { usage, cost, elapsedMs, characters, model } = context;
  const output = Math.ceil(characters / CHARACTERS_PER_TOKEN);
  const rates = prices && findRates(prices, model);
  const replyCost = rates ? priceUsage({ ...zeroUsage(), output }, rates).total : 0;
  return {
    usage: { ...usage, total: usage.total + output },
    cost: { ...cost, total: cost.total + replyCost },
    elapsedMs,
  };
}

function createStopVerdict(limit: string): StopVerdict {
  return { type: "stop", reason: `The run reached ${limit}` };
}
