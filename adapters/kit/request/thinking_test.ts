import { assertEquals } from "@std/assert";
import { THINKING_LEVELS } from "../../../src/core/models/model.ts";
import type { ThinkingEffort } from "../../catalog/catalog_entry.ts";
import { resolveBudget, resolveEffort } from "./thinking.ts";

Deno.test("resolveEffort(): returns the same effort, else the next higher, else the next lower", () => {
  const all = (...efforts: ThinkingEffort[]) =>
    THINKING_LEVELS.map((level) => resolveEffort(level, efforts));
  assertEquals(all("none", "low", "high"), ["none", "low", "low", "high", "high", "high"]);
  assertEquals(all("low", "medium", "high", "max"), [
    "low",
    "low",
    "low",
    "medium",
    "high",
    "max",
  ]);
  assertEquals(all("high"), Array(6).fill("high"));
  assertEquals(all(), Array(6).fill(undefined));
});

Deno.test("THINKING_LEVELS: each level has a higher effort and a larger budget than the one before [1.6]", () => {
  const efforts: ThinkingEffort[] = ["none", "minimal", "low", "medium", "high", "xhigh"];
  assertEquals(THINKING_LEVELS.map((level) => resolveEffort(level, efforts)), efforts);
  const budgets = THINKING_LEVELS.map((thinkingLevel) =>
    resolveBudget({ provider: "p", modelId: "m", thinkingLevel }, { min: 0, max: Infinity })
  );
  assertEquals(budgets, [...new Set(budgets)].toSorted((a, b) => a - b));
});

Deno.test("resolveBudget(): returns the budget of the caller, else of the level, within the limits", () => {
  const model = { provider: "p", modelId: "m", thinkingLevel: "high" } as const;
  assertEquals(resolveBudget(model, { min: 1024, max: 100_000 }), 20_480);
  assertEquals(resolveBudget(model, { min: 1024, max: 8000 }), 8000);
  const own = { ...model, thinkingBudgets: { high: 5 } };
  assertEquals(resolveBudget(own, { min: 1024, max: 8000 }), 1024);
});
