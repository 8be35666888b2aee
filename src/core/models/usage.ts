/**
 * Token counts and cost.
 *
 * @module
 */

import { BadRequestError } from "../errors/errors.ts";
import type { ModelSpec } from "./model.ts";

/** Token counts of one or more replies. */
export interface Usage {
  /** Prompt tokens that were neither read from a cache nor written to one. */
  readonly input: number;
  /** Output tokens, including reasoning. */
  readonly output: number;
  /** Prompt tokens read from the provider's cache. */
  readonly cacheRead: number;
  /** Prompt tokens written to the provider's cache. */
  readonly cacheWrite: number;
  /** Total as reported by the provider, otherwise the sum of the four counts. */
  readonly total: number;
  /**
   * Additional counts by name. Known names: `reasoning`, the part of `output` that is reasoning; `cacheWriteLong`, the
   * part of `cacheWrite` that the provider stores for longer than usual (1 hour at Anthropic and Bedrock), and
   * `cacheWriteOther`, the part that it stores for any other time; `audioInput` and `audioCacheRead`, the parts of
   * `input` and `cacheRead` that are audio; `compaction`, the part of all counts that a provider used to summarize the
   * conversation within the request; `discarded`, the part of all counts that failed attempts used before the last one;
   * names that end in `Requests`, such as `webSearchRequests`: requests with a fee of their own. `flexRequests` and
   * `priorityRequests` are replies from service tiers with other prices, and `regionalRequests` replies from models that
   * a provider runs in one region only.
   */
  readonly extra?: Readonly<Record<string, number>>;
}

/**
 * Spending of agents after the end of the tool call that runs them, because the call was cancelled or they work in the
 * background. It is in no `tool_execution_end`.
 */
export interface LateSpending {
  /** Id of the tool call. */
  readonly toolCallId: string;
  /** Token counts. */
  readonly usage: Usage;
  /** Cost. */
  readonly cost: Cost;
}

/**
 * Cost of usage, in the currency of the rates (US dollars in the built-in catalog). An amount is `null` if the price of
 * any part of it is unknown.
 */
export interface Cost {
  /** Cost of `Usage.input`. */
  readonly input: number | null;
  /** Cost of `Usage.output`. */
  readonly output: number | null;
  /** Cost of `Usage.cacheRead`. */
  readonly cacheRead: number | null;
  /** Cost of `Usage.cacheWrite`. */
  readonly cacheWrite: number | null;
  /** Total cost. */
  readonly total: number | null;
  /** Additional amounts by name. */
  readonly extra?: Readonly<Record<string, number | null>>;
}

/** Prices of a model per million tokens, in any currency. */
export interface Rates {
  /** Price of a million uncached prompt tokens. */
  readonly input: number;
  /** Price of a million output tokens. */
  readonly output: number;
  /** Price of a million tokens read from the cache. Default: `input`. */
  readonly cacheRead?: number | undefined;
  /** Price of a million tokens written to the cache. Default: `input`. */
  readonly cacheWrite?: number | undefined;
  /**
   * Price of a million tokens of `Usage.extra.audioInput`; those of `audioCacheRead` have the same ratio to `cacheRead`.
   * Default: `input`.
   */
  readonly audioInput?: number | undefined;
  /** Price of a million tokens of `Usage.extra.cacheWriteLong`. Default: `cacheWrite`. */
  readonly cacheWriteLong?: number | undefined;
  /** Price of a million tokens of `Usage.extra.cacheWriteOther`. Default: unknown. */
  readonly cacheWriteOther?: number | undefined;
  /** Fees of a thousand requests by their name in `Usage.extra`, such as `webSearchRequests`. Default of each: unknown. */
  readonly requests?: Readonly<Record<string, number>> | undefined;
  /**
   * Factors of the prices of tokens, by the name of requests in `Usage.extra` that have no fee, such as
   * `regionalRequests`. Default of each: none.
   */
  readonly factors?: Readonly<Record<string, number>> | undefined;
  /** Prices of calls with long prompts, from the lowest to the highest threshold. Default: none. */
  readonly tiers?: readonly RateTier[] | undefined;
}

/** Prices of a call whose prompt is longer than a threshold. They apply to all of its tokens, output included. */
export interface RateTier extends Omit<Rates, "requests" | "factors" | "tiers"> {
  /** Threshold in tokens; the prompt is the sum of `Usage.input`, `cacheRead` and `cacheWrite`. */
  readonly abovePromptTokens: number;
}

/**
 * Rates by model: a table with the keys `"provider/modelId"` or `"modelId"`, of which the former takes precedence, or a
 * function that returns `undefined` for an unknown price.
 */
export type Prices = Readonly<Record<string, Rates>> | ((model: ModelSpec) => Rates | undefined);

/** Returns a usage of 0 tokens. */
export function zeroUsage(): Usage {
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
}

/** Returns a cost of 0. */
export function zeroCost(): Cost {
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
}

/** Returns the cost of usage whose price is unknown: every amount is `null`. */
export function unknownCost(): Cost {
  return { input: null, output: null, cacheRead: null, cacheWrite: null, total: null };
}

/**
 * Adds two usages, including their `extra` counts by name.
 *
 * @example
 * ```ts
 * import { addUsage } from "@swink/agent";
 *
 * const call = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, total: 12 };
 * addUsage(call, call).total; // 24
 * ```
 */
export function addUsage(left: Usage, right: Usage): Usage {
  return addAmounts(left, right, addTokens);
}

/**
 * Adds two costs, including their `extra` amounts by name; a sum with an unknown amount (`null`) is unknown.
 *
 * @example
 * ```ts
 * import { addCost } from "@swink/agent";
 *
 * const known = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
 * addCost(known, known).total; // 6
 * addCost(known, { ...known, total: null }).total; // null
 * ```
 */
export function addCost(left: Cost, right: Cost): Cost {
  return addAmounts(left, right, addMoney);
}

/** Returns the rates of a model, or `undefined` if they are unknown. */
export function findRates(prices: Prices, model: ModelSpec): Rates | undefined {
  if (typeof prices === "function") return prices(model);
  const name = [`${model.provider}/${model.modelId}`, model.modelId].find((key) =>
    Object.hasOwn(prices, key)
  );
  return name === undefined ? undefined : prices[name];
}

/** The amounts of a usage or a cost, by name. */
interface Amounts<Amount> {
  readonly input: Amount;
  readonly output: Amount;
  readonly cacheRead: Amount;
  readonly cacheWrite: Amount;
  readonly total: Amount;
  readonly extra?: Readonly<Record<string, Amount>>;
}

type Add<Amount> = (left: Amount, right: Amount) => Amount;

const addTokens: Add<number> = (left, right) => left + right;

/** Adds two amounts of money; an unknown one makes the sum unknown. */
export function addMoney(left: number | null, right: number | null): number | null {
  return left === null || right === null ? null : left + right;
}

function addAmounts<Amount>(
  left: Amounts<Amount>,
  right: Amounts<Amount>,
  add: Add<Amount>,
): Amounts<Amount> {
  if (!left || !right) {
    throw new BadRequestError("Pass two amounts of usage or cost");
  }
  const sum = {
    input: add(left.input, right.input),
    output: add(left.output, right.output),
    cacheRead: add(left.cacheRead, right.cacheRead),
    cacheWrite: add(left.cacheWrite, right.cacheWrite),
    total: add(left.total, right.total),
  };
  if (!left.extra && !right.extra) return sum;
  const extra: Record<string, Amount> = { ...left.extra };
  for (const [name, amount] of Object.entries(right.extra ?? {})) {
    const previous = Object.hasOwn(extra, name) ? extra[name] : undefined;
    extra[name] = previous === undefined ? amount : add(previous, amount);
  }
  return { ...sum, extra };
}
