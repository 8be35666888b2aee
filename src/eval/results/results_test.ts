import { assertEquals, assertNotEquals } from "@std/assert";
import { unknownCost, zeroCost, zeroUsage } from "../../core/models/usage.ts";
import { encodeHex } from "../../core/text/byte_encoding.ts";
import type { CaseResult, EvalSetResult } from "../run/case_result.ts";
import { createAuditTrail, hashText, verifyAuditTrail } from "./audit_trail.ts";
import { compareResults } from "./compare_results.ts";
import { gate, type GateOptions } from "./gate.ts";
import { calculateScore } from "./result_totals.ts";

function createResult(
  passed: boolean,
  overrides: Partial<CaseResult> & { readonly cost?: number | null } = {},
): CaseResult {
  const { cost = 1, ...others } = overrides;
  const total = cost === null ? unknownCost() : { ...zeroCost(), total: cost };
  const usage = zeroUsage();
  return {
    caseId: "a",
    repetition: 1,
    seed: 1,
    outcome: passed ? "passed" : "failed",
    scores: [{ metric: "response", value: passed ? 1 : 0, passed }],
    trajectory: {
      calls: [],
      replies: [],
      turns: 1,
      response: "",
      stopReason: "stop",
      usage,
      cost: total,
    },
    durationMs: 100,
    ...others,
  };
}

const createSetResult = (...results: CaseResult[]): EvalSetResult => ({ setId: "set", results });

const half = createSetResult(createResult(true), createResult(false, { caseId: "b" }));

const decide = (options: GateOptions, result = half) => gate(result, options).type;

Deno.test("gate: without limits all runs must pass [A157]", () => {
  assertEquals(decide({}), "fail");
  assertEquals(decide({}, createSetResult(createResult(true))), "pass");
});

Deno.test("gate: a result at its limits passes, one beyond a limit fails [A157]", () => {
  const atLimits = { minPassRate: 0.5, minScore: 0.5, maxCost: 2, maxDuration: 100 };
  assertEquals(gate(half, atLimits), { type: "pass", reasons: [] });
  const beyond = { minPassRate: 0.51, minScore: 0.51, maxCost: 1.9, maxDuration: 99 };
  for (const [name, limit] of Object.entries(beyond)) {
    const decision = gate(half, { minPassRate: 0.5, [name]: limit });
    assertEquals([name, decision.type, decision.reasons.length], [name, "fail", 1]);
  }
  assertEquals(gate(half, beyond).reasons.length, 4);
});

Deno.test("gate: a limit of the cost or of the duration alone accepts no failed run", () => {
  assertEquals(decide({ maxCost: 100 }), "fail");
  assertEquals(decide({ maxDuration: 1_000 }), "fail");
  assertEquals(decide({ maxCost: 100 }, createSetResult(createResult(true))), "pass");
});

Deno.test("gate: results with values out of their ranges are no results, and no baseline", () => {
  const valid = createResult(true, { caseId: "b" });
  const score = { metric: "a", value: 1, passed: true };
  // From untyped code, or from files of another program.
  const invalid: readonly unknown[] = [
    ...[null, "passed", [], {}],
    ...[{ ...valid, repetition: 0 }, { ...valid, repetition: 1.5 }, { ...valid, caseId: 1 }],
    ...[{ ...valid, outcome: "Passed" }, { ...valid, outcome: undefined }],
    ...[{ ...valid, durationMs: NaN }, { ...valid, durationMs: -1 }],
    ...[NaN, Infinity, -0.1, 1.1, "1", null].map((value) => ({
      ...valid,
      scores: [{ ...score, value }],
    })),
    ...[0, -1, NaN, Infinity].map((weight) => ({ ...valid, scores: [{ ...score, weight }] })),
    ...[-1, NaN, "1"].map((cost) => ({ ...valid, scores: [{ ...score, cost }] })),
    ...[-1, NaN].map((cost) => createResult(true, { caseId: "b", cost })),
    { ...valid, scores: [{ ...score, passed: false }] },
    ...[{ ...valid, scores: {} }, { ...valid, scores: [] }, { ...valid, model: 1 }],
  ];
  const complete = createSetResult(createResult(true), valid);
  for (const entry of invalid) {
    const result = createSetResult(createResult(true), entry as CaseResult);
    const reason = "Entry 1 of the results is no valid result";
    assertEquals(gate(result), { type: "no_result", reasons: [reason] }, JSON.stringify(entry));
    assertEquals(gate(complete, { noRegressionAgainst: result }), {
      type: "configuration_error",
      reasons: [`noRegressionAgainst cannot be used: ${reason}`],
    });
  }
  const untyped = JSON.parse('{ "setId": "set", "results": {} }');
  assertEquals(gate(untyped), { type: "no_result", reasons: ["They are no results"] });
});

Deno.test("gate: two results of one run are no result, since copies of one that passed would hide one that failed", () => {
  const passed = createResult(true);
  const copies = createSetResult(passed, passed, passed, createResult(false, { caseId: "b" }));
  const reason = "2 of 4 results are of the same runs as others";
  assertEquals(gate(copies, { minPassRate: 0.7 }), { type: "no_result", reasons: [reason] });
  assertEquals(gate(half, { noRegressionAgainst: copies }), {
    type: "configuration_error",
    reasons: [`noRegressionAgainst cannot be used: ${reason}`],
  });
});

Deno.test("gate: a baseline in which nothing passed is no limit, so that all runs must pass", () => {
  const failed = createSetResult(createResult(false), createResult(false, { caseId: "b" }));
  const options = { noRegressionAgainst: failed };
  assertEquals(gate(failed, options).reasons, ["0 of 2 runs passed; the minimum is 100 %"]);
  const passed = createSetResult(createResult(true), createResult(true, { caseId: "b" }));
  assertEquals(decide(options, passed), "pass");
  assertEquals(decide({ ...options, minPassRate: 0.5 }, half), "pass");
});

Deno.test("gate: all runs must pass if those of the result or of the baseline all ended with an error, also if they met a budget", () => {
  const scores = [
    { metric: "run", value: 0, passed: false },
    { metric: "budget", value: 1, passed: true },
  ];
  const failed = createSetResult(createResult(false, { scores }));
  const options = { noRegressionAgainst: failed };
  const reasons = ["0 of 1 runs passed; the minimum is 100 %"];
  assertEquals(gate(failed, options).reasons, reasons);
  // Nor is the score of the budget alone one of the agent.
  assertEquals(gate(failed, { minScore: 0 }).reasons, reasons);
});

Deno.test("gate: the scores of a run that ended with an error are 0, also of a budget that it met", () => {
  const scores = [
    { metric: "run", value: 0, passed: false },
    { metric: "budget", value: 1, passed: true },
  ];
  const result = createSetResult(
    createResult(false, { scores }),
    createResult(true, { caseId: "b" }),
  );
  assertEquals(decide({ minScore: 0.3 }, result), "pass");
  assertEquals(gate(result, { minScore: 0.5 }).reasons, [
    "The mean score of 0.333 is below 0.5",
  ]);
  assertEquals(result.results.map((run) => calculateScore([run])), [0, 1]);
});

Deno.test("gate: rounding errors of sums exceed no limit", () => {
  const scores = [{ metric: "a", value: 0.7, passed: true }];
  const runs = [1, 2, 3].map((repetition) => createResult(true, { repetition, scores, cost: 0.1 }));
  const result = createSetResult(...runs);
  assertEquals(gate(result, { minScore: 0.7, maxCost: 0.3 }), { type: "pass", reasons: [] });
  assertEquals(gate(result, { minScore: 0.700001 }).type, "fail");
  assertEquals(gate(result, { maxCost: 0.299999 }).type, "fail");
});

Deno.test("gate: an evaluation with missing runs is neither a result nor a baseline", () => {
  const complete = createSetResult(createResult(true));
  const interrupted = { ...complete, planned: 10 };
  assertEquals(gate(interrupted), {
    type: "no_result",
    reasons: ["9 of 10 runs have no result"],
  });
  assertEquals(gate(complete, { noRegressionAgainst: interrupted }), {
    type: "configuration_error",
    reasons: ["noRegressionAgainst cannot be used: 9 of 10 runs have no result"],
  });
  assertEquals(gate({ ...complete, planned: 1 }).type, "pass");
});

Deno.test("gate: an option of another name is an error, since its limit would not be checked", () => {
  const options: Record<string, number> = { maxcost: 1 };
  const { type, reasons } = gate(createSetResult(createResult(true)), options);
  assertEquals([type, reasons], [
    "configuration_error",
    ['Unknown option "maxcost" of gate(): did you mean maxCost?'],
  ]);
});

Deno.test("gate: a baseline without all results of the set is an error, since nothing could regress", () => {
  const failed = createSetResult(createResult(false));
  const other = { ...createSetResult(createResult(true)), setId: "other" };
  const skipped = createSetResult(createResult(true), createResult(true, { outcome: "skipped" }));
  const untyped: { noRegressionAgainst: EvalSetResult } = JSON.parse('{"noRegressionAgainst":{}}');
  for (
    const [noRegressionAgainst, reason] of [
      [createSetResult(), "noRegressionAgainst cannot be used: There are no results"],
      [other, 'noRegressionAgainst has results of the set "other", not "set"'],
      [skipped, "noRegressionAgainst cannot be used: 1 of 2 runs were skipped"],
      [untyped.noRegressionAgainst, "noRegressionAgainst cannot be used: They are no results"],
    ] as const
  ) {
    const decision = gate(failed, { noRegressionAgainst });
    assertEquals(decision, { type: "configuration_error", reasons: [reason] });
  }
});

Deno.test("gate: the mean score is weighted, and the cost includes that of judges", () => {
  const score = (value: number, weight: number) => ({
    metric: `m${value}`,
    value,
    passed: value === 1,
    weight,
    cost: 0.5,
  });
  const result = createSetResult(createResult(false, { scores: [score(1, 3), score(0, 1)] }));
  assertEquals(decide({ minScore: 0.75 }, result), "pass");
  assertEquals(decide({ minScore: 0.76 }, result), "fail");
  assertEquals(decide({ minScore: 0, maxCost: 2 }, result), "pass");
  assertEquals(decide({ minScore: 0, maxCost: 1.9 }, result), "fail");
  const unknown = createSetResult(
    createResult(true, { scores: [{ metric: "a", value: 1, passed: true, cost: null }] }),
  );
  assertEquals(decide({ maxCost: 100 }, unknown), "fail");
});

Deno.test("gate: decides on many results", () => {
  const results = Array.from(
    { length: 200_000 },
    (_, index) => createResult(true, { repetition: index + 1 }),
  );
  assertEquals(decide({ maxDuration: 100 }, { setId: "set", results }), "pass");
});

Deno.test("gate: an unknown cost exceeds a limit of the cost", () => {
  const unknown = createResult(true, { repetition: 2, cost: null });
  const result = createSetResult(createResult(true), unknown);
  assertEquals(decide({ maxCost: 100 }, result), "fail");
});

Deno.test("gate: missing, empty and cancelled results are no result [A157]", () => {
  assertEquals(gate(undefined).type, "no_result");
  assertEquals(decide({ minPassRate: 0 }, createSetResult()), "no_result");
  const cancelled = createSetResult(createResult(true), createResult(true, { outcome: "skipped" }));
  assertEquals(decide({ minPassRate: 0 }, cancelled), "no_result");
});

Deno.test("gate: an invalid limit is a configuration error", () => {
  for (const options of [{ minPassRate: 90 }, { minScore: NaN }, { maxCost: -1 }]) {
    assertEquals(decide(options), "configuration_error");
  }
  // A limit from untyped code.
  assertEquals(decide(JSON.parse('{ "maxDuration": "1 s" }')), "configuration_error");
});

Deno.test("gate: a case that passed before may not fail or be missing", () => {
  const before = createSetResult(createResult(true), createResult(true, { caseId: "b" }));
  const options = { noRegressionAgainst: before };
  assertEquals(gate(half, options), { type: "fail", reasons: ["b: response regressed"] });
  assertEquals(gate(before, options).type, "pass");
  const fewer = createSetResult(createResult(true));
  assertEquals(gate(fewer, options).reasons, ["b: run removed", "b: response removed"]);
});

Deno.test("gate: a failure that existed before is no regression", () => {
  assertEquals(decide({ noRegressionAgainst: half }), "pass");
  const { results: [passed] } = half;
  const unscored = createResult(false, { caseId: "b", scores: [] });
  const result = createSetResult(...passed ? [passed, unscored] : []);
  assertEquals(decide({ noRegressionAgainst: half }, result), "pass");
});

const repeat = (passes: readonly boolean[]) =>
  createSetResult(
    ...passes.map((passed, index) => createResult(passed, { repetition: index + 1 })),
  );

Deno.test("compareResults: a metric that is missing in some repetitions did not pass in them", () => {
  // `undefined`: the evaluator does not apply, as that of efficiency without calls.
  const create = (...passes: readonly (boolean | undefined)[]) =>
    createSetResult(...passes.map((passed, index) =>
      createResult(passed ?? true, {
        repetition: index + 1,
        scores: [
          { metric: "budget", value: 1, passed: true },
          ...(passed === undefined ? [] : [{ metric: "calls", value: Number(passed), passed }]),
        ],
      })
    ));
  const all = create(true, true, true);
  const some = create(true, undefined, true);
  const change = (before: EvalSetResult, after: EvalSetResult) =>
    compareResults(before, after).find(({ metric }) => metric === "calls")?.change;
  assertEquals(change(all, some), "regressed");
  assertEquals(gate(some, { noRegressionAgainst: all }).reasons, ["a: calls regressed"]);
  assertEquals(change(some, all), "fixed");
  assertEquals(change(some, create(undefined, true, true)), "same");
  assertEquals(change(some, create(true, false, true)), "regressed");
  assertEquals(change(all, create(undefined, undefined, undefined)), "removed");
});

Deno.test("compareResults: names regressed, fixed, same, added and removed metrics", () => {
  const change = (before: EvalSetResult, after: EvalSetResult) =>
    compareResults(before, after).filter(({ metric }) => metric === "response")
      .map((comparison) => comparison.change);
  assertEquals(change(repeat([true, true]), repeat([true, false])), ["regressed"]);
  assertEquals(change(repeat([false, true]), repeat([true, true])), ["fixed"]);
  assertEquals(change(repeat([false, true]), repeat([true, false])), ["same"]);
  assertEquals(change(createSetResult(), repeat([true])), ["added"]);
  assertEquals(change(repeat([true]), createSetResult()), ["removed"]);
});

Deno.test("compareResults: has the significance of repeated cases", () => {
  const pValue = (before: EvalSetResult, after: EvalSetResult) =>
    compareResults(before, after).find(({ metric }) => metric === "response")?.pValue;
  const six = Array<boolean>(6);
  assertEquals(pValue(repeat(six.fill(true)), repeat(Array(6).fill(false)))?.toFixed(5), "0.03125");
  assertEquals(pValue(repeat([true]), repeat([false])), undefined);
});

Deno.test("compareResults: a run that fails without another metric is a regression", () => {
  const run = { metric: "run", value: 0, passed: false };
  const after = createSetResult(createResult(false, { scores: [run] }));
  const comparisons = compareResults(createSetResult(createResult(true)), after);
  assertEquals(comparisons.map(({ metric, change }) => [metric, change]), [
    ["run", "regressed"],
    ["response", "removed"],
  ]);
});

Deno.test("compareResults: a metric of any name is compared", () => {
  const named = createSetResult(
    createResult(true, { scores: [{ metric: "a\nb", value: 1, passed: true }] }),
  );
  assertEquals(compareResults(named, named).map(({ metric }) => metric), ["run", "a\nb"]);
});

Deno.test("compareResults: ignores skipped runs", () => {
  const skipped = createSetResult(createResult(true, { outcome: "skipped" }));
  assertEquals(compareResults(skipped, skipped), []);
});

Deno.test("audit trail: is verified after a round trip through JSON, in any order of keys [A156]", async () => {
  const trail = await createAuditTrail(half);
  assertEquals(await verifyAuditTrail(JSON.parse(JSON.stringify(trail))), true);
  const { hash, result, version } = trail;
  const { setId, results } = result;
  assertEquals(await verifyAuditTrail({ result: { results, setId }, hash, version }), true);
});

Deno.test("hashText() returns the SHA-256 hash of the UTF-8 bytes, as in a browser", async () => {
  const node = Object.getOwnPropertyDescriptor(globalThis, "process") ?? {};
  for (const text of ["", "abc", "Grüße 😀", "cut \ud83d here", "x".repeat(100_000)]) {
    const hash = await hashText(text);
    const bytes = new TextEncoder().encode(text);
    assertEquals(hash, encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))));
    try {
      Object.defineProperty(globalThis, "process", { value: undefined, configurable: true });
      assertEquals(await hashText(text), hash);
    } finally {
      Object.defineProperty(globalThis, "process", node);
    }
  }
});

Deno.test("audit trail: a changed result or hash is detected [A156]", async () => {
  const trail = await createAuditTrail(half);
  const better = { ...trail, result: createSetResult(createResult(true)) };
  const further = { ...trail, note: "reviewed" };
  for (const changed of [better, further, { ...trail, hash: "0" }, {}, null, { version: 1 }]) {
    assertEquals(await verifyAuditTrail(changed), false);
  }
  assertNotEquals((await createAuditTrail(better.result)).hash, trail.hash);
});
