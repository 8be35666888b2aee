/**
 * Token counts and costs of untyped models and tools.
 *
 * @module
 */

import { ignoreRejections } from "../errors/refuse_promise.ts";
import {
  addCost,
  addMoney,
  addUsage,
  type Cost,
  unknownCost,
  type Usage,
  zeroCost,
  zeroUsage,
} from "./usage.ts";

/**
 * Returns a usage whose counts are all finite numbers of at least 0, for usage that an untyped model or tool reports; a
 * missing total, and one of 0, is the sum of the four counts.
 */
export function toValidUsage(usage: Partial<Usage> | undefined): Usage {
  if (usage === undefined || usage === null) return zeroUsage();
  if (!hasOnlyNumbers(usage)) ignoreRejections(usage);
  const counts = {
    input: toCount(usage.input),
    output: toCount(usage.output),
    cacheRead: toCount(usage.cacheRead),
    cacheWrite: toCount(usage.cacheWrite),
  };
  const { input, output, cacheRead, cacheWrite } = counts;
  const sum = input + output + cacheRead + cacheWrite;
  const total = isAmount(usage.total) && usage.total > 0 ? usage.total : sum;
  if (typeof usage.extra !== "object" || usage.extra === null) return { ...counts, total };
  const extra = Object.fromEntries(
    Object.entries(usage.extra).filter(([, count]) => isAmount(count)),
  );
  return { ...counts, total, extra };
}

/**
 * Returns a cost whose amounts are all `null` or finite numbers of at least 0, for reported costs; a total of 0 with other
 * amounts above 0 is their sum.
 */
export function toValidCost(cost: Partial<Cost>): Cost {
  ignoreRejections(cost);
  const parts = {
    input: toAmount(cost.input),
    output: toAmount(cost.output),
    cacheRead: toAmount(cost.cacheRead),
    cacheWrite: toAmount(cost.cacheWrite),
  };
  const values = Object.values(parts);
  const reported = toAmount(cost.total);
  // A program that sets some amounts of a cost of 0 forgets the total, and a limit would never be reached.
  const isForgotten = reported === 0 && values.some((amount) => amount !== null && amount > 0);
  const amounts = { ...parts, total: isForgotten ? values.reduce(addMoney) : reported };
  if (typeof cost.extra !== "object" || cost.extra === null) return amounts;
  const extra = Object.entries(cost.extra).map(([name, amount]) => [name, toAmount(amount)]);
  return { ...amounts, extra: Object.fromEntries(extra) };
}

/** Token counts and cost as a tool or a summary reports them. */
export interface ReportedSpending {
  /** Token counts. Default: none. */
  readonly usage?: Usage | undefined;
  /** Cost. Default: 0, or unknown if there are token counts. */
  readonly cost?: Cost | undefined;
}

/** Returns valid token counts and cost; the cost of token counts that is not reported is unknown. */
export function toValidSpending(
  { usage, cost }: ReportedSpending,
): { readonly usage?: Usage; readonly cost?: Cost } {
  if (!usage) return cost ? { cost: toValidCost(cost) } : {};
  const counts = toValidUsage(usage);
  if (cost) return { usage: counts, cost: toValidCost(cost) };
  return { usage: counts, ...(counts.total > 0 && { cost: unknownCost() }) };
}

/** Adds what two steps report; a cost that one of them does not know makes the sum unknown. */
export function addReportedSpending(
  first: ReportedSpending,
  second: ReportedSpending,
): { readonly usage?: Usage; readonly cost?: Cost } {
  const [left, right] = [toValidSpending(first), toValidSpending(second)];
  if (!left.usage && !left.cost) return right;
  if (!right.usage && !right.cost) return left;
  return {
    usage: addUsage(left.usage ?? zeroUsage(), right.usage ?? zeroUsage()),
    cost: addCost(left.cost ?? zeroCost(), right.cost ?? zeroCost()),
  };
}

/** Whether a usage is no promise and has only numbers. A search for promises takes longer. */
function hasOnlyNumbers(usage: Partial<Usage>): boolean {
  if (typeof usage.input !== "number") return false;
  for (const name in usage) if (typeof usage[name as keyof Usage] !== "number") return false;
  return true;
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function toCount(value: unknown): number {
  return isAmount(value) ? value : 0;
}

function toAmount(value: unknown): number | null {
  return isAmount(value) ? value : null;
}
