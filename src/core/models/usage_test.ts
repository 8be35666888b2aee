import { assertEquals, assertStrictEquals } from "@std/assert";
import { modelSpec } from "./model.ts";
import { addCost, addUsage, findRates, type Rates, zeroCost, zeroUsage } from "./usage.ts";

const first = { input: 10, output: 20, cacheRead: 30, cacheWrite: 40, total: 100 };
const second = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, total: 11 };

Deno.test("addUsage() and addCost() add each amount, including the total [1.5]", () => {
  const sum = { input: 11, output: 22, cacheRead: 33, cacheWrite: 44, total: 111 };
  assertEquals(addUsage(first, second), sum);
  assertEquals(addCost(first, second), sum);
  assertEquals(addUsage(first, zeroUsage()), first);
  assertEquals(addCost(zeroCost(), second), second);
});

Deno.test("addUsage() adds extra counts by name [1.5]", () => {
  const left = { ...first, extra: { reasoning: 5, search: 1 } };
  const right = { ...second, extra: { reasoning: 7, audio: 2 } };
  assertEquals(addUsage(left, right).extra, { reasoning: 12, search: 1, audio: 2 });
  assertEquals(addUsage(left, second).extra, { reasoning: 5, search: 1 });
  assertEquals(addUsage(first, right).extra, { reasoning: 7, audio: 2 });
  assertEquals("extra" in addUsage(first, second), false);
  const named = addUsage(first, { ...second, extra: { constructor: 3, toString: 4 } as never });
  assertEquals(JSON.stringify(addUsage(named, named).extra), '{"constructor":6,"toString":8}');
});

Deno.test("addUsage() does not modify its arguments [1.5]", () => {
  const left = Object.freeze({ ...first, extra: Object.freeze({ reasoning: 5 }) });
  addUsage(left, left);
  assertEquals(left, { ...first, extra: { reasoning: 5 } });
});

Deno.test("findRates() looks up provider and model, then the model, or calls the function", () => {
  const expensive: Rates = { input: 2, output: 2 };
  const cheap: Rates = { input: 1, output: 1 };
  const model = modelSpec("openai/gpt-5");
  assertStrictEquals(findRates({ "openai/gpt-5": expensive, "gpt-5": cheap }, model), expensive);
  assertStrictEquals(findRates({ "gpt-5": cheap }, model), cheap);
  assertStrictEquals(
    findRates(({ modelId }) => modelId === "gpt-5" ? expensive : undefined, model),
    expensive,
  );
  assertEquals(findRates({ "gpt-4": cheap }, model), undefined);
  assertEquals(findRates({}, modelSpec("local/constructor")), undefined);
});
