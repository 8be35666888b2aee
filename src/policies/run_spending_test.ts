import { assertEquals } from "@std/assert";
import { unknownCost, zeroUsage } from "../core/models/usage.ts";
import { RunSpending } from "./run_spending.ts";

Deno.test("RunSpending: counts late spending once, also when the total cost is unknown", () => {
  const spending = new RunSpending("ignore");
  const usage = zeroUsage();
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
  const totals = {
    usage,
    cost: unknownCost(),
    lateSpending: [{ toolCallId: "call", usage, cost }],
  };
  assertEquals(spending.update(totals).cost, cost);
  assertEquals(spending.update(totals).cost, cost);
});
