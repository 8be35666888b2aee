import { assertEquals } from "@std/assert";
import { type Rates, unknownCost, zeroUsage } from "./usage.ts";
import { toValidSpending } from "./valid_usage.ts";

const first = { input: 10, output: 20, cacheRead: 30, cacheWrite: 40, total: 100 };
const second = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, total: 11 };

Deno.test("toValidSpending() replaces invalid amounts, and has no known cost for tokens without one", () => {
  const untyped = { input: NaN, output: 3, extra: { reasoning: -1 } } as unknown as Rates;
  const usage = { input: 0, output: 3, cacheRead: 0, cacheWrite: 0, total: 3, extra: {} };
  assertEquals(toValidSpending({}), {});
  assertEquals(toValidSpending({ usage: zeroUsage() }), { usage: zeroUsage() });
  assertEquals(toValidSpending({ usage: untyped as never }), { usage, cost: unknownCost() });
  assertEquals(toValidSpending({ usage: second, cost: first }), { usage: second, cost: first });
  assertEquals(toValidSpending({ cost: { ...first, input: NaN } }), {
    cost: { ...first, input: null },
  });
  assertEquals(toValidSpending({ cost: { ...first, extra: { search: 1, fetch: -1 } } }), {
    cost: { ...first, extra: { search: 1, fetch: null } },
  });
});
