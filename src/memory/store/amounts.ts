/**
 * Token counts and costs of a log, which another program or a custom stream function may have written.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Cost, Usage } from "../../core/models/usage.ts";

const NAMES = ["input", "output", "cacheRead", "cacheWrite", "total"] as const;

/** Whether a value is an amount of an entry. Sums of larger ones could exceed the range of numbers. */
const isCount = (value: unknown): value is number =>
  typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

/**
 * Returns a record whose usage and cost are valid, if it has them: a count that is no number or too large becomes 0, and
 * such an amount of a cost `null`.
 */
export function repairAmounts(record: JsonObject): JsonObject {
  const { usage, cost } = record;
  const isUsageValid = usage === undefined || hasAmounts(usage, isCount);
  const isCostValid = cost === undefined || hasAmounts(cost, isAmount);
  if (isUsageValid && isCostValid) return record;
  return {
    ...record,
    ...(!isUsageValid && { usage: repair(usage, toCount) satisfies Usage }),
    ...(!isCostValid && { cost: repair(cost, toAmount) satisfies Cost }),
  };
}

/** Whether a record has the sums of the usages and of the costs of entries, which may be larger than those of an entry. */
export function hasSums({ usage, cost }: JsonObject): boolean {
  return hasAmounts(usage, Number.isFinite) &&
    hasAmounts(cost, (sum) => sum === null || Number.isFinite(sum));
}

function toCount(value: unknown): number {
  return isCount(value) ? value : 0;
}

function toAmount(value: unknown): number | null {
  return isCount(value) ? value : null;
}

function isAmount(value: unknown): boolean {
  return value === null || isCount(value);
}

function hasAmounts(value: unknown, isValid: (amount: unknown) => boolean): boolean {
  return isJsonObject(value) && NAMES.every((name) => isValid(value[name])) &&
    Object.values(value["extra"] ?? {}).every(isValid);
}

function repair<Amount>(
  value: unknown,
  convert: (amount: unknown) => Amount,
): Record<typeof NAMES[number], Amount> & { readonly extra?: Record<string, Amount> } {
  const { extra, ...amounts } = isJsonObject(value) ? value : {};
  return {
    ...amounts,
    input: convert(amounts["input"]),
    output: convert(amounts["output"]),
    cacheRead: convert(amounts["cacheRead"]),
    cacheWrite: convert(amounts["cacheWrite"]),
    total: convert(amounts["total"]),
    ...(isJsonObject(extra) && {
      extra: Object.fromEntries(
        Object.entries(extra).map(([name, amount]) => [name, convert(amount)]),
      ),
    }),
  };
}
