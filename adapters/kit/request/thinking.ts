/**
 * Conversion of thinking levels to an effort or a token budget.
 *
 * @module
 */

import type { ModelSpec, ThinkingLevel } from "../../../src/core/models/model.ts";
import type { ThinkingEffort } from "../../catalog/catalog_entry.ts";

/** Efforts from lowest to highest. */
const EFFORT_SCALE: readonly ThinkingEffort[] = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
];

/** Effort of each thinking level. */
export const EFFORT_BY_LEVEL: Readonly<Record<ThinkingLevel, ThinkingEffort>> = {
  off: "none",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  extra_high: "xhigh",
};

/** Default token budget of each thinking level. */
const BUDGET_BY_LEVEL: Readonly<Record<ThinkingLevel, number>> = {
  off: 0,
  minimal: 1024,
  low: 4096,
  medium: 10_240,
  high: 20_480,
  extra_high: 49_152,
};

/** Returns the supported effort for a level: the same one, else the next higher, else the next lower. */
export function resolveEffort(
  level: ThinkingLevel,
  efforts: readonly ThinkingEffort[],
): ThinkingEffort | undefined {
  const start = EFFORT_SCALE.indexOf(EFFORT_BY_LEVEL[level]);
  const byPreference = [...EFFORT_SCALE.slice(start), ...EFFORT_SCALE.slice(0, start).reverse()];
  return byPreference.find((effort) => efforts.includes(effort));
}

/** Returns the thinking budget in tokens: `thinkingBudgets` of the model or the default of its level, within limits. */
export function resolveBudget(model: ModelSpec, limits: { min: number; max: number }): number {
  const { thinkingLevel } = model;
  const budget = model.thinkingBudgets?.[thinkingLevel] ?? BUDGET_BY_LEVEL[thinkingLevel];
  return Math.max(limits.min, Math.min(budget, limits.max));
}
