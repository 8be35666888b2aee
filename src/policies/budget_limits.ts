/**
 * The limits of a budget, and their checks.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkNumber } from "../core/checks/check_number.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { OnDeltaContext, StopVerdict } from "../core/hooks/policy.ts";
import { priceUsage } from "../core/models/price_usage.ts";
import { type Cost, zeroCost, zeroUsage } from "../core/models/usage.ts";
import { isKnownAmount, type Spending } from "./run_spending.ts";

/** The worst cases that `preflight` assumes where a request or a tool has no maximum. */
export interface PreflightOptions {
  /** Output tokens of a request without `maxTokens`. Default: the maximum of the model, otherwise 32,000. */
  readonly maxOutputTokens?: number | undefined;
  /** Duration of a request, in milliseconds; one that could pass `elapsedMs` is not made. Default: 0. */
  readonly maxRequestMs?: number | undefined;
  /** Duration of a call without a timeout, in milliseconds, for `toolMs`. It does not end the call. Default: 0. */
  readonly maxToolMs?: number | undefined;
}

/** Limits of a budget. Default of each limit: none. */
export interface BudgetOptions {
  /** Maximum cost, in the currency of the prices. */
  readonly cost?: number | undefined;
  /** Maximum total number of tokens. */
  readonly tokens?: number | undefined;
  /** Maximum duration, in milliseconds. */
  readonly elapsedMs?: number | undefined;
  /**
   * Maximum time of all tool calls together, in milliseconds. At the limit the calls that run are cancelled, and the run
   * stops; with `preflight`, a call that may take longer than what is left is refused. Calls of tools whose agents have
   * the budget do not count themselves.
   */
  readonly toolMs?: number | undefined;
  /**
   * Whether the limits are also checked before each request, with the most that it can spend: its input, and the longest
   * reply that its `maxTokens` or the model allows. A request that could exceed a limit is not made. Default: `false`.
   */
  readonly preflight?: boolean | PreflightOptions | undefined;
  /**
   * Effect of an unknown price on the limit `cost`. `stop`: the run stops, since the limit cannot be checked. `ignore`:
   * replies and tool results of unknown cost count as 0. Default: `"stop"`.
   */
  readonly unknownPrice?: "stop" | "ignore" | undefined;
}

/** Average of most tokenizers for English text and code. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Checks the limits of a budget.
 *
 * @throws {BadRequestError} If a limit is not a number of at least 0, or `unknownPrice` has another value.
 */
export function assertBudgetOptions(options: BudgetOptions): void {
  checkObject(options, "Pass the limits of the budget, such as { cost: 0.5 }");
  checkNames(
    options,
    ["cost", "tokens", "elapsedMs", "toolMs", "preflight", "unknownPrice", "now"],
    "the budget",
  );
  for (const name of ["cost", "tokens", "elapsedMs", "toolMs"] as const) {
    checkNumber(`Invalid budget: ${name}`, options[name]);
  }
  const { unknownPrice = "stop", preflight = false } = options;
  if (typeof preflight !== "boolean") assertPreflightOptions(preflight);
  if (unknownPrice === "stop" || unknownPrice === "ignore") return;
  throw new BadRequestError(
    `Invalid budget: unknownPrice must be "stop" or "ignore", not ${describeValue(unknownPrice)}`,
  );
}

function assertPreflightOptions(preflight: PreflightOptions): void {
  checkObject(
    preflight,
    "Invalid budget: preflight must be true, false or options such as { maxToolMs: 60_000 }",
  );
  const names = ["maxOutputTokens", "maxRequestMs", "maxToolMs"] as const;
  checkNames(preflight, names, "preflight");
  for (const name of names) checkNumber(`Invalid budget: preflight.${name}`, preflight[name]);
}

/** Returns the worst cases of a budget. */
export function getPreflightOptions({ preflight }: BudgetOptions): PreflightOptions {
  return typeof preflight === "object" ? preflight : {};
}

/** Stops if the cost or the tokens have reached their limit, or the cost is unknown. */
export function checkSpending(
  limits: BudgetOptions,
  { usage, cost }: Spending,
): StopVerdict | undefined {
  const unknown = checkPrice(limits, cost);
  if (unknown) return unknown;
  if (isReached(limits.cost, cost.total)) {
    return createStopVerdict(`the cost limit of ${limits.cost}`);
  }
  if (isReached(limits.tokens, usage.total)) {
    return createStopVerdict(`the limit of ${limits.tokens} tokens`);
  }
  return undefined;
}

/** Stops if a cost is limited but unknown. */
export function checkPrice({ cost: limit }: BudgetOptions, cost: Cost): StopVerdict | undefined {
  if (!isLimit(limit) || isKnownAmount(cost.total)) return undefined;
  return {
    type: "stop",
    reason:
      `The cost limit of ${limit} cannot be checked: price unknown. Add the price of the model or tool, or set unknownPrice to "ignore"`,
  };
}

/**
 * Stops if the time of tool calls has reached its limit. Calls that are checked before may use all of it, which must not cut
 * off a request that another agent makes; further ones are refused.
 */
export function checkToolTime(
  { toolMs: limit, preflight }: BudgetOptions,
  spentMs: number,
): StopVerdict | undefined {
  const isUsedUp = preflight && spentMs === limit;
  return isReached(limit, spentMs) && !isUsedUp
    ? createStopVerdict(`the limit of ${limit} ms for tool calls`)
    : undefined;
}

/** Stops if the time has reached its limit. */
export function checkTime(
  { elapsedMs: limit }: BudgetOptions,
  elapsedMs: number,
): StopVerdict | undefined {
  return isReached(limit, elapsedMs)
    ? createStopVerdict(`the time limit of ${limit} ms`)
    : undefined;
}

/**
 * Estimates the tokens of a reply that streams, and their cost if the price is known. Otherwise the cost is 0: the
 * provider may report it at the end of the reply.
 */
export function estimateReply({ characters, rates }: OnDeltaContext): Spending {
  const output = Math.ceil(characters / CHARACTERS_PER_TOKEN);
  const usage = { ...zeroUsage(), output, total: output };
  const cost = rates ? priceUsage(usage, rates) : zeroCost();
  return { usage, cost: isKnownAmount(cost.total) ? cost : zeroCost() };
}

/** Whether a limit is set. */
export function isLimit(limit: number | undefined): limit is number {
  return limit !== undefined && limit !== Infinity;
}

/** Whether a value has reached its limit; one that is no number has. */
function isReached(limit: number | undefined, value: number | null): boolean {
  return isLimit(limit) && !(value !== null && value < limit);
}

function createStopVerdict(limit: string): StopVerdict {
  return { type: "stop", reason: `The run reached ${limit}` };
}
