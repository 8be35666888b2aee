import { assertEquals } from "@std/assert";
import { addCost, type Rates, unknownCost, zeroCost, zeroUsage } from "./usage.ts";
import { addReportedSpending, toValidCost, toValidSpending, toValidUsage } from "./valid_usage.ts";

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

Deno.test("addReportedSpending() knows the cost of a sum only if both costs are known", () => {
  const known = { usage: second, cost: first };
  assertEquals(addReportedSpending({}, {}), {});
  assertEquals(addReportedSpending({ cost: first }, {}), { cost: first });
  assertEquals(addReportedSpending({ cost: first }, { cost: first }).cost, addCost(first, first));
  assertEquals(addReportedSpending(known, {}), known);
  assertEquals(addReportedSpending({}, { usage: second }), { usage: second, cost: unknownCost() });
  assertEquals(addReportedSpending(known, { cost: first }), {
    usage: second,
    cost: { input: 20, output: 40, cacheRead: 60, cacheWrite: 80, total: 200 },
  });
  assertEquals(addReportedSpending(known, { usage: second }).cost, unknownCost());
});

Deno.test("toValidUsage() replaces a total of 0 by the sum of the counts, which limits depend on", () => {
  const usage = { ...zeroUsage(), input: 10, output: 2 };
  assertEquals(toValidUsage(usage), { ...usage, total: 12 });
  assertEquals(toValidUsage(zeroUsage()), zeroUsage());
});

Deno.test("toValidCost() replaces a total of 0 by the sum of the amounts, which limits depend on", () => {
  assertEquals(toValidCost({ ...first, total: 0 }), first);
  assertEquals(toValidCost({ ...first, output: null, total: 0 }).total, null);
  assertEquals(toValidCost(zeroCost()), zeroCost());
  assertEquals(toValidCost({ ...zeroCost(), output: null }).total, 0);
  assertEquals(toValidCost({ total: 0 }), { ...unknownCost(), total: 0 });
});
