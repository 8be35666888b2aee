import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { BadRequestError } from "../../core/errors/errors.ts";
import { calculateMcNemar } from "./compare_pairs.ts";
import { calculatePassAtK } from "./pass_at_k.ts";
import { summarizeScores } from "./summarize_scores.ts";
import { calculateWilsonInterval } from "./wilson_interval.ts";

/** Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998), table I. */
const NEWCOMBE = [
  { passed: 81, total: 263, low: 0.2553, high: 0.3662 },
  { passed: 15, total: 148, low: 0.0624, high: 0.1605 },
  { passed: 0, total: 20, low: 0, high: 0.1611 },
  { passed: 1, total: 29, low: 0.0061, high: 0.1718 },
];

Deno.test("calculateWilsonInterval: gives the published values [A159]", () => {
  for (const { passed, total, low, high } of NEWCOMBE) {
    const interval = calculateWilsonInterval(passed, total);
    assertAlmostEquals(interval.low, low, 5e-5);
    assertAlmostEquals(interval.high, high, 5e-5);
  }
});

Deno.test("calculateWilsonInterval: knows nothing without runs", () => {
  assertEquals(calculateWilsonInterval(0, 0), { low: 0, high: 1 });
});

Deno.test("calculateWilsonInterval: contains the rate, between 0 and 1", () => {
  const counts = fc.integer({ min: 1, max: 500 }).chain((total) =>
    fc.tuple(fc.integer({ min: 0, max: total }), fc.constant(total))
  );
  fc.assert(fc.property(counts, ([passed, total]) => {
    const { low, high } = calculateWilsonInterval(passed, total);
    return 0 <= low && low <= passed / total && passed / total <= high && high <= 1;
  }));
});

/** Returns 1 - C(n - c, k) / C(n, k) by the definition. */
function definePassAtK(passed: number, total: number, k: number): number {
  const choose = (n: number, r: number): number => r === 0 ? 1 : n / r * choose(n - 1, r - 1);
  return total - passed < k ? 1 : 1 - choose(total - passed, k) / choose(total, k);
}

Deno.test("calculatePassAtK: equals its definition", () => {
  assertEquals(calculatePassAtK(1, 2, 1), 0.5);
  for (let total = 1; total <= 12; total++) {
    for (let passed = 0; passed <= total; passed++) {
      for (let k = 1; k <= total; k++) {
        const expected = definePassAtK(passed, total, k);
        assertAlmostEquals(calculatePassAtK(passed, total, k) ?? -1, expected, 1e-9);
      }
    }
  }
});

Deno.test("calculatePassAtK: is the mean over all selections of k runs [A159]", () => {
  // The definition by Chen et al., "Evaluating Large Language Models Trained on Code" (2021), section 2.1.
  const runs = [true, false, false, true, false];
  for (let k = 1; k <= runs.length; k++) {
    const selections = listSelections(runs, k);
    const passed = selections.filter((selection) => selection.includes(true)).length;
    const expected = passed / selections.length;
    assertAlmostEquals(calculatePassAtK(2, runs.length, k) ?? -1, expected, 1e-12);
  }
});

function listSelections<Item>(items: readonly Item[], count: number): Item[][] {
  if (count === 0) return [[]];
  return items.flatMap((item, index) =>
    listSelections(items.slice(index + 1), count - 1).map((others) => [item, ...others])
  );
}

Deno.test("calculatePassAtK: is unknown with fewer than k runs", () => {
  assertEquals(calculatePassAtK(1, 2, 3), undefined);
});

Deno.test("calculateMcNemar: gives the published value of a study with few pairs [A159]", () => {
  // Fagerland, Lydersen, Laake, "The McNemar test for binary matched-pairs data", BMC Medical Research Methodology 13
  // (2013): the airway hyper-responsiveness of children before and after a transplantation, with 1 and 7 unequal pairs.
  assertAlmostEquals(calculateMcNemar(1, 7), 0.0703, 5e-5);
});

Deno.test("calculateMcNemar: equals the sum of the binomial distribution", () => {
  const choose = (n: number, r: number): number => r === 0 ? 1 : n / r * choose(n - 1, r - 1);
  const counts = fc.integer({ min: 0, max: 25 });
  fc.assert(fc.property(counts, counts, (first, second) => {
    const total = first + second;
    const tail = Array.from({ length: Math.min(first, second) + 1 }, (_, k) => choose(total, k))
      .reduce((sum, value) => sum + value, 0);
    const expected = Math.min(1, 2 * tail / 2 ** total);
    assertAlmostEquals(calculateMcNemar(first, second), expected, 1e-9);
  }));
});

Deno.test("calculateMcNemar: gives the values of the binomial distribution", () => {
  assertEquals(calculateMcNemar(0, 0), 1);
  assertAlmostEquals(calculateMcNemar(0, 5), 2 / 32, 1e-12);
  assertAlmostEquals(calculateMcNemar(0, 6), 2 / 64, 1e-12);
  assertAlmostEquals(calculateMcNemar(1, 9), 2 * 11 / 1024, 1e-12);
  assertAlmostEquals(calculateMcNemar(5, 5), 1, 1e-12);
});

Deno.test("calculateMcNemar: is symmetric and stays finite for many pairs", () => {
  assertEquals(calculateMcNemar(3, 12), calculateMcNemar(12, 3));
  const p = calculateMcNemar(4_800, 5_200);
  assertAlmostEquals(p, 6.6e-5, 5e-6);
});

const pass = { value: 1, passed: true };
const fail = { value: 0, passed: false };

Deno.test("summarizeScores: summarizes repetitions with their variance [A159]", () => {
  const summary = summarizeScores([pass, fail, { value: 0.5, passed: false }]);
  assertEquals([summary.count, summary.passed, summary.mean, summary.variance], [3, 1, 0.5, 0.25]);
  assertEquals([summary.all, summary.any], [false, true]);
  assertEquals(summary.passAtK.map((value) => value.toFixed(3)), ["0.333", "0.667", "1.000"]);
});

Deno.test("summarizeScores: all and any of repetitions that agree [A159]", () => {
  const { all, any, variance } = summarizeScores([pass]);
  assertEquals([all, any, variance], [true, true, 0]);
  assertEquals(summarizeScores([fail, fail]).any, false);
});

Deno.test("summarizeScores: rejects 0 repetitions [A159]", () => {
  assertThrows(() => summarizeScores([]), BadRequestError);
});

Deno.test("statistics: numbers that are no numbers of runs are rejected", () => {
  for (const passed of [-1, 1.5, NaN, 6]) {
    assertThrows(() => calculatePassAtK(passed, 5, 1), BadRequestError, "passed must be");
    assertThrows(() => calculateWilsonInterval(passed, 5), BadRequestError, "passed must be");
  }
  assertThrows(() => calculatePassAtK(1, 5, 1.5), BadRequestError, "k must be");
  assertThrows(() => calculateMcNemar(-1, 5), BadRequestError, "onlyFirst must be");
  assertThrows(() => calculateMcNemar(1e15, 1e15), BadRequestError, "onlyFirst must be");
  assertThrows(() => calculatePassAtK(1, 1e15, 1e14), BadRequestError, "total must be");
});
