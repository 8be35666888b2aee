/**
 * Thinking levels become what a model takes: a word, or a number of tokens.
 *
 * @module
 */

import type { ModelSpec, ThinkingLevel } from "../../../src/core/model.ts";
import type { ThinkingEffort } from "../../catalog/catalog_entry.ts";

/** From none to most. */
const EFFORT_SCALE: readonly ThinkingEffort[] = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
];

/** The effort that a level stands for. */
export const EFFORT_BY_LEVEL: Readonly<Record<ThinkingLevel, ThinkingEffort>> = {
  off: "none",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  extra_high: "xhigh",
};

/** Tokens of a level, where the caller has not set any. */
const BUDGET_BY_LEVEL: Readonly<Record<ThinkingLevel, number>> = {
  off: 0,
  minimal: 1024,
  low: 4096,
  medium: 10_240,
  high: 20_480,
  extra_high: 49_152,
};

/** The effort that a model has for a level: the same, else the next above it, else the next below. */
export function resolveEffort(
  level: ThinkingLevel,
  efforts: readonly ThinkingEffort[],
): ThinkingEffort | undefined {
  const wanted = EFFORT_SCALE.indexOf(EFFORT_BY_LEVEL[level]);
  const fromWanted = [...EFFORT_SCALE.slice(wanted), ...EFFORT_SCALE.slice(0, wanted).reverse()];
  return fromWanted.find((effort) => efforts.includes(effort));
}

/** The tokens that a model may think, within its limits. */
export function resolveBudget(model: ModelSpec, limits: { min: number; max: number }): number {
  const { thinkingLevel } = model;
  const budget = model.thinkingBudgets?.[thinkingLevel] ?? BUDGET_BY_LEVEL[thinkingLevel];
  return Math.max(limits.min, Math.min(budget, limits.max));
}
