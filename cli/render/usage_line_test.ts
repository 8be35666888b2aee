import { assertEquals } from "@std/assert";
import { zeroCost, zeroUsage } from "../../src/loop/mod.ts";
import { formatDuration, formatUsage } from "./usage_line.ts";

Deno.test("formatUsage(): shows turns, tokens, cost and duration in one line", () => {
  const usage = { input: 2_210, output: 412, cacheRead: 6_000, cacheWrite: 0, total: 8_622 };
  const cost = { ...zeroCost(), total: 0.02168 };
  assertEquals(
    formatUsage({ turns: 3, usage, cost, durationMs: 4_120 }),
    "3 turns · 8,210 tokens in (6,000 cached), 412 out · $0.0217 · 4.1 s",
  );
});

Deno.test("formatUsage(): counts tokens written to the cache as input", () => {
  const usage = { ...zeroUsage(), input: 10, cacheWrite: 300, output: 5 };
  assertEquals(
    formatUsage({ turns: 1, usage, cost: zeroCost(), durationMs: 0 }),
    "1 turn · 310 tokens in, 5 out · $0.0000 · 0.0 s",
  );
});

Deno.test("formatUsage(): shows an unknown price, and a price of zero", () => {
  const usage = { ...zeroUsage(), input: 1, output: 1 };
  assertEquals(
    formatUsage({ turns: 1, usage, cost: { ...zeroCost(), total: null }, durationMs: 50 }),
    "1 turn · 1 token in, 1 out · price unknown · 0.1 s",
  );
  assertEquals(
    formatUsage({ turns: 1, usage, cost: zeroCost(), durationMs: 50 }),
    "1 turn · 1 token in, 1 out · $0.0000 · 0.1 s",
  );
});

Deno.test("formatUsage(): shows neither tokens nor cost of a run without a reply", () => {
  assertEquals(
    formatUsage({ turns: 1, usage: zeroUsage(), cost: zeroCost(), durationMs: 300 }),
    "1 turn · 0.3 s",
  );
});

Deno.test("formatUsage(): shows long durations in minutes or hours and large costs in cents", () => {
  assertEquals(formatDuration(125_900), "2 min 5 s");
  assertEquals(formatDuration(3_599_900), "59 min 59 s");
  assertEquals(formatDuration(4_200_000), "1 h 10 min");
  const cost = { ...zeroCost(), total: 12.3456 };
  const line = formatUsage({
    turns: 1,
    usage: { ...zeroUsage(), input: 1 },
    cost,
    durationMs: 0,
  });
  assertEquals(line, "1 turn · 1 token in, 0 out · $12.35 · 0.0 s");
});

Deno.test("formatUsage(): shows four decimals of a cost below one dollar", () => {
  const formatCost = (total: number) =>
    formatUsage({
      turns: 1,
      usage: { ...zeroUsage(), input: 1 },
      cost: { ...zeroCost(), total },
      durationMs: 0,
    }).split(" · ")[2];
  assertEquals([0.99994, 1].map(formatCost), ["$0.9999", "$1.00"]);
});
