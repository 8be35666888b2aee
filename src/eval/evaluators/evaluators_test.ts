import {
  assertAlmostEquals,
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { zeroCost, zeroUsage } from "../../core/models/usage.ts";
import type {
  EvalBudget,
  EvalCase,
  EvaluatorConfig,
  ExpectedCall,
  ResponseCriteria,
} from "../case/eval_case.ts";
import type { Trajectory, TrajectoryCall } from "../trajectory/trajectory.ts";
import { findExceededLimits } from "./budget_evaluator.ts";
import { calculateEfficiency } from "./efficiency_evaluator.ts";
import type { Evaluator } from "./evaluator.ts";
import { EvaluatorRegistry } from "./evaluator_registry.ts";
import { createJudgeEvaluator } from "./judge_evaluator.ts";
import { scoreResponse } from "./response_evaluator.ts";
import { calculateMeanScore, type Score } from "./score.ts";

function createTrajectory(overrides: Partial<Trajectory> = {}): Trajectory {
  const usage = zeroUsage();
  const cost = zeroCost();
  return {
    calls: [],
    replies: [],
    turns: 1,
    response: "Hi",
    stopReason: "stop",
    usage,
    cost,
    ...overrides,
  };
}

function createCall(tool: string, args: TrajectoryCall["arguments"] = {}): TrajectoryCall {
  const outcome = "completed";
  return { id: "1", tool, arguments: args, turn: 1, outcome, result: "", calls: [] };
}

function evaluate(
  evalCase: Partial<EvalCase>,
  { registry = EvaluatorRegistry.createDefault(), trajectory = createTrajectory() } = {},
): Promise<Score[]> {
  return registry.evaluate({
    evalCase: { id: "case", userMessages: ["Go"], ...evalCase },
    trajectory,
    durationMs: 5,
    directory: undefined,
    signal: new AbortController().signal,
  });
}

const passes = async (text: string, criteria: ResponseCriteria) =>
  (await scoreResponse(text, criteria)).passed;

Deno.test("response: exact, contains, regex, schema and a function [A151]", async () => {
  assertEquals(await passes("Hi", { type: "exact", text: "Hi" }), true);
  assertEquals(await passes("Hi.", { type: "exact", text: "Hi" }), false);
  assertEquals(await passes("Oh, Hi", { type: "contains", text: "Hi" }), true);
  assertEquals(await passes("", { type: "contains", text: "Hi" }), false);
  assertEquals(await passes("no 12", { type: "regex", pattern: "\\d+$" }), true);
  assertEquals(await passes("no", { type: "regex", pattern: "\\d+$" }), false);
  assertEquals(await passes("[1]", { type: "schema", schema: { type: "array" } }), true);
  assertEquals(await passes("{}", { type: "schema", schema: { type: "array" } }), false);
  assertEquals(await passes("one", { type: "schema", schema: { type: "array" } }), false);
  assertEquals(await passes("Hi", { type: "custom", check: (text) => text === "Hi" }), true);
  assertEquals(await passes("Hi", { type: "custom", check: () => 0.9 }), false);
});

Deno.test("response: an invalid pattern and a function that throws fail with the reason [A151]", async () => {
  const invalid = await scoreResponse("Hi", { type: "regex", pattern: "(" });
  assertEquals(invalid.passed, false);
  assertMatch(invalid.reason ?? "", /[()]/); // The words are those of the runtime.
  const thrown = await scoreResponse("Hi", {
    type: "custom",
    check: () => {
      throw new Error("broken check");
    },
  });
  assertEquals(thrown, { metric: "response", value: 0, passed: false, reason: "broken check" });
});

Deno.test("response: a function may not return a score out of range", async () => {
  const { passed, reason } = await scoreResponse("Hi", { type: "custom", check: () => NaN });
  assertEquals(passed, false);
  assertStringIncludes(reason ?? "", "NaN");
});

Deno.test("budget: each exceeded limit is a failure of its own [A152]", () => {
  const spending = { cost: 2, tokens: 20, turns: 3, durationMs: 40 };
  const budget = { maxCost: 1, maxTokens: 10, maxTurns: 2, maxDurationMs: 30 };
  assertEquals(findExceededLimits(budget, spending).length, 4);
  for (const [name, limit] of Object.entries(budget)) {
    assertEquals(findExceededLimits({ [name]: limit } as EvalBudget, spending).length, 1);
  }
  const enough = { maxCost: 2, maxTokens: 20, maxTurns: 3, maxDurationMs: 40 };
  assertEquals(findExceededLimits(enough, spending), []);
});

Deno.test("budget: the reason has no rounding error of a sum", () => {
  const spending = { cost: 0.1 + 0.2, tokens: 0, turns: 1, durationMs: 0 };
  assertEquals(findExceededLimits({ maxCost: 0.25 }, spending), ["The cost of $0.3 exceeds $0.25"]);
});

Deno.test("budget: an unknown cost exceeds a limit of the cost", () => {
  const spending = { cost: null, tokens: 0, turns: 1, durationMs: 0 };
  assertEquals(findExceededLimits({ maxCost: 1 }, spending).length, 1);
  assertEquals(findExceededLimits({ maxTurns: 1 }, spending), []);
});

Deno.test("budget: a model that reports no token counts exceeds a limit of the tokens", async () => {
  const replies = [{ prompt: 1, turn: 1, text: "Hi", tokens: 0, cost: null, durationMs: 1 }];
  const trajectory = createTrajectory({ replies });
  const [score] = await evaluate({ budget: { maxTokens: 100 } }, { trajectory });
  assertEquals(score?.passed, false);
  assertEquals(score?.reason, "The model reports no tokens, which are limited to 100");
  const [unlimited] = await evaluate({ budget: { maxTurns: 2 } }, { trajectory });
  assertEquals(unlimited?.passed, true);
  const refused = createTrajectory({ replies: replies.map((reply) => ({ ...reply, text: "" })) });
  const [unanswered] = await evaluate({ budget: { maxTokens: 100 } }, { trajectory: refused });
  assertEquals(unanswered?.reason, undefined);
  const counted = createTrajectory({ replies, usage: { ...zeroUsage(), output: 5, total: 5 } });
  const [enough] = await evaluate({ budget: { maxTokens: 100 } }, { trajectory: counted });
  assertEquals(enough?.passed, true);
});

Deno.test("efficiency: unique calls in the ideal number of turns score 1 [A153]", () => {
  const calls = [createCall("a", { x: 1 }), createCall("a", { x: 2 })];
  assertEquals(calculateEfficiency({ calls, turns: 3 })?.score, 1);
});

Deno.test("efficiency: the ideal number of turns has an answer to each message", () => {
  const calls = [createCall("a")];
  const replies = [1, 1, 2].map((prompt, index) => ({
    ...{ prompt, turn: index + 1, text: "", tokens: 0, cost: 0, durationMs: 0 },
  }));
  assertEquals(calculateEfficiency({ calls, turns: 3, replies })?.score, 1);
});

Deno.test("efficiency: repeated calls and further turns lower the score [A153]", () => {
  const calls = [createCall("a", { x: 1, y: 2 }), createCall("a", { y: 2, x: 1 })];
  const efficiency = calculateEfficiency({ calls, turns: 4 });
  assertEquals(efficiency?.duplicateRatio, 0.5);
  assertEquals(efficiency?.stepRatio, 0.5);
  assertAlmostEquals(efficiency?.score ?? 0, 0.5);
});

Deno.test("efficiency: does not apply to a run without calls [A153]", async () => {
  assertEquals(calculateEfficiency({ calls: [], turns: 1 }), undefined);
  const [score] = await evaluate({ evaluators: [{ name: "efficiency" }] });
  assertEquals(score?.metric, "no_metric");
});

Deno.test("trajectory: the reason names the expected calls that match no call", async () => {
  const trajectory = createTrajectory({ calls: [createCall("read_file", { path: "a" })] });
  const getReason = async (calls: readonly ExpectedCall[]) => {
    const expectedTrajectory = { match: "in_order", calls } as const;
    const [score] = await evaluate({ expectedTrajectory }, { trajectory });
    return score?.reason;
  };
  const read = { tool: "read_file", arguments: { path: "a" } };
  const other = { tool: "read_file", matchers: { path: { type: "contains", text: "b" } } } as const;
  assertEquals(await getReason([read]), "1 of 1 expected calls found in 1 calls (in_order)");
  assertEquals(
    await getReason([read, other, { tool: "bash" }]),
    "1 of 3 expected calls found in 1 calls (in_order); " +
      'no call matches read_file {"path":{"type":"contains","text":"b"}}, bash',
  );
  const many = Array.from({ length: 5 }, (_, index) => ({ tool: `tool_${index}` }));
  assertMatch(await getReason(many) ?? "", /matches tool_0, tool_1, tool_2, 2 more$/);
});

Deno.test("response: the reason has the expected text, of a long one the start", async () => {
  const score = await scoreResponse("No", { type: "exact", text: "Yes" });
  assertEquals(score.reason, 'The answer is not "Yes"');
  const long = await scoreResponse("No", { type: "contains", text: "x".repeat(10_000) });
  assertMatch(long.reason ?? "", /^The answer does not contain "x{199}…$/);
});

Deno.test("EvaluatorRegistry: expectations of a case select its evaluators", async () => {
  const scores = await evaluate({
    expectedTrajectory: { match: "exact", calls: [] },
    expectedResponse: { type: "exact", text: "Hi" },
    budget: { maxTurns: 1 },
  });
  assertEquals(scores.map(({ metric, passed }) => [metric, passed]), [
    ["trajectory", true],
    ["response", true],
    ["budget", true],
  ]);
});

Deno.test("EvaluatorRegistry: a case with no evaluator that applies fails [A154]", async () => {
  assertEquals(await evaluate({}), [{
    metric: "no_metric",
    value: 0,
    passed: false,
    reason: "No evaluator applies to the case",
  }]);
});

Deno.test("EvaluatorRegistry: an evaluator that throws fails its metric only [A154]", async () => {
  const registry = EvaluatorRegistry.createDefault();
  const failures: Evaluator[] = [
    {
      name: "throws",
      evaluate: () => {
        throw new Error("broken");
      },
    },
    { name: "rejects", evaluate: () => Promise.reject(new Error("broken")) },
    { name: "invalid", evaluate: () => ({ metric: "invalid", value: 2, passed: true }) },
    // Values from untyped code.
    { name: "without value", evaluate: () => JSON.parse('{ "metric": "a", "passed": true }') },
    { name: "without metric", evaluate: () => JSON.parse('{ "value": 1, "passed": true }') },
    {
      name: "truthy",
      evaluate: () => JSON.parse('{ "metric": "a", "value": 1, "passed": "no" }'),
    },
  ];
  for (const evaluator of failures) registry.register(evaluator);
  const scores = await evaluate({
    evaluators: failures.map(({ name }) => ({ name })),
    expectedResponse: { type: "exact", text: "Hi" },
  }, { registry });
  assertEquals(scores.map(({ metric, passed }) => [metric, passed]), [
    ["response", true],
    ["throws", false],
    ["rejects", false],
    ["invalid", false],
    ["without value", false],
    ["without metric", false],
    ["truthy", false],
  ]);
});

Deno.test("EvaluatorRegistry: a case may name an evaluator several times, with metrics and weights", async () => {
  const trajectory = createTrajectory({ calls: [createCall("a"), createCall("a")], turns: 2 });
  const efficiency = (threshold: number, config: Partial<EvaluatorConfig> = {}) => ({
    name: "efficiency",
    options: { threshold },
    ...config,
  });
  const evaluators = [
    efficiency(0.1),
    efficiency(0.9),
    efficiency(0.9, { metric: "thrift", weight: 3 }),
  ];
  const scores = await evaluate({ evaluators }, { trajectory });
  assertEquals(scores.map(({ metric, passed, weight }) => [metric, passed, weight]), [
    ["efficiency", true, undefined],
    ["efficiency_2", false, undefined],
    ["thrift", false, 3],
  ]);
});

Deno.test("EvaluatorRegistry: a score has only values that can be stored", async () => {
  const registry = new EvaluatorRegistry();
  const score: Record<string, unknown> = { metric: "a", value: 1, passed: true, reason: 5 };
  // From untyped code.
  Object.assign(score, { self: score, rawValue: 1n, weight: -1, cost: NaN });
  registry.register({ name: "a", evaluate: () => score as unknown as Score }, { isDefault: true });
  assertEquals(await evaluate({}, { registry }), [
    { metric: "a", value: 1, passed: true, reason: "5", cost: null },
  ]);
});

Deno.test("EvaluatorRegistry: a value that is no score fails, and only undefined does not apply", async () => {
  // From untyped code: a result such as `false` must not leave the other metrics alone.
  for (const value of [null, false, 0, NaN, "", "passed", []]) {
    const registry = EvaluatorRegistry.createDefault();
    registry.register({ name: "a", evaluate: () => value as unknown as Score });
    const [score] = await evaluate({ evaluators: [{ name: "a" }] }, { registry });
    assertEquals([score?.metric, score?.passed], ["a", false]);
    assertStringIncludes(score?.reason ?? "", "instead of a score");
  }
  const registry = EvaluatorRegistry.createDefault();
  registry.register({ name: "a", evaluate: () => undefined });
  const [score] = await evaluate({ evaluators: [{ name: "a" }] }, { registry });
  assertEquals(score?.metric, "no_metric");
});

Deno.test("EvaluatorRegistry: a negative cost is unknown, since it would hide that of other runs", async () => {
  const registry = new EvaluatorRegistry();
  const score: Score = { metric: "a", value: 1, passed: true, cost: -5 };
  registry.register({ name: "a", evaluate: () => score }, { isDefault: true });
  assertEquals(await evaluate({}, { registry }), [{ ...score, cost: null }]);
});

Deno.test("EvaluatorRegistry: a case can configure an evaluator that applies to each case", async () => {
  const scores = await evaluate({
    budget: { maxTurns: 1 },
    evaluators: [{ name: "budget", metric: "thrift", weight: 2 }],
  });
  assertEquals(scores, [{ metric: "thrift", value: 1, passed: true, weight: 2 }]);
});

Deno.test("EvaluatorRegistry: an abort ends the wait for an evaluator that ignores it", async () => {
  const registry = EvaluatorRegistry.createDefault();
  const controller = new AbortController();
  registry.register({
    name: "hangs",
    evaluate: () => {
      queueMicrotask(() => controller.abort(new Error("cancelled")));
      return new Promise(() => {});
    },
  });
  const [score] = await registry.evaluate({
    evalCase: { id: "case", userMessages: ["Go"], evaluators: [{ name: "hangs" }] },
    trajectory: createTrajectory(),
    durationMs: 5,
    directory: undefined,
    signal: controller.signal,
  });
  assertStringIncludes(score?.reason ?? "", "cancelled");
});

Deno.test("EvaluatorRegistry: an evaluator that hangs fails its metric when its time is over", async () => {
  const registry = EvaluatorRegistry.createDefault();
  const hang = () => new Promise<never>(() => {});
  registry.register({ name: "hangs", timeoutMs: 20, evaluate: hang });
  const fail = () => new Promise<never>((_, reject) => setTimeout(() => reject(new Error()), 30));
  registry.register({ name: "fails_later", timeoutMs: 20, evaluate: fail });
  const score: Score = { metric: "in_time", value: 1, passed: true };
  registry.register({
    name: "in_time",
    timeoutMs: Infinity,
    evaluate: () => Promise.resolve(score),
  });
  const evaluators = ["hangs", "fails_later", "in_time"].map((name) => ({ name }));
  const scores = await evaluate({ evaluators }, { registry });
  assertEquals(scores.map(({ metric, reason }) => [metric, reason]), [
    ["hangs", "The evaluator failed: it did not end within 20 ms"],
    ["fails_later", "The evaluator failed: it did not end within 20 ms"],
    ["in_time", undefined],
  ]);
  await new Promise((resolve) => setTimeout(resolve, 30));
  for (const timeoutMs of [0, -1, NaN]) {
    assertThrows(
      () => registry.register({ name: "a", timeoutMs, evaluate: () => undefined }),
      BadRequestError,
      "timeoutMs",
    );
  }
});

Deno.test("calculateMeanScore: is the mean by weight", () => {
  assertEquals(calculateMeanScore([{ value: 1, weight: 3 }, { value: 0 }]), 0.75);
  assertEquals(calculateMeanScore([{ value: 0.5 }]), 0.5);
  assertEquals(calculateMeanScore([]), undefined);
});

Deno.test("EvaluatorRegistry: an unknown evaluator fails, with the known names", async () => {
  const [score] = await evaluate({ evaluators: [{ name: "efficency" }] });
  assertEquals(score?.passed, false);
  assertStringIncludes(score?.reason ?? "", "efficiency");
});

Deno.test("EvaluatorRegistry: an invalid option fails the metric", async () => {
  const trajectory = createTrajectory({ calls: [createCall("a")], turns: 2 });
  const evaluators = [{ name: "efficiency", options: { threshold: "high" } }];
  const [score] = await evaluate({ evaluators }, { trajectory });
  assertStringIncludes(score?.reason ?? "", "threshold");
});

Deno.test("EvaluatorRegistry: rejects a second evaluator with a name", () => {
  const registry = EvaluatorRegistry.createDefault();
  const evaluator: Evaluator = { name: "response", evaluate: () => undefined };
  assertThrows(() => registry.register(evaluator), BadRequestError, "response");
});

Deno.test("EvaluatorRegistry: a misspelled option fails the metric, and is found before the run", async () => {
  const registry = EvaluatorRegistry.createDefault();
  for (
    const [name, option, message] of [
      ["efficiency", "treshold", "did you mean threshold?"],
      ["command", "exitcode", "did you mean exitCode?"],
      ["response", "text", 'Unknown option "text" of the evaluator "response"'],
      ["trajectory", "match", 'Unknown option "match" of the evaluator "trajectory"'],
      ["files", "path", 'Unknown option "path" of the evaluator "files"'],
      ["budget", "maxCost", 'Unknown option "maxCost" of the evaluator "budget"'],
    ] as const
  ) {
    const evaluators = [{ name, options: { [option]: 1 } }];
    const [score] = await evaluate({ evaluators });
    assertEquals(score?.passed, false);
    assertStringIncludes(score?.reason ?? "", message);
    const evalCase = { id: "a", userMessages: ["Go"], evaluators };
    assertThrows(() => registry.checkCase(evalCase), BadRequestError, message);
  }
  const unknown = { id: "a", userMessages: ["Go"], evaluators: [{ name: "polite" }] };
  assertThrows(() => registry.checkCase(unknown), BadRequestError, 'unknown evaluator, "polite"');
  // The options of other evaluators are theirs.
  registry.register({ name: "polite", evaluate: () => undefined });
  registry.checkCase({ ...unknown, evaluators: [{ name: "polite", options: { any: 1 } }] });
});

Deno.test("EvaluatorRegistry: an invalid value of an option is found before the run", () => {
  const registry = EvaluatorRegistry.createDefault();
  const model = { name: "test/judge", ask: () => Promise.reject(new Error("not asked")) };
  registry.register(createJudgeEvaluator("safety", { model }));
  const polite: Evaluator = {
    name: "polite",
    checkOptions: ({ word }) => {
      if (typeof word !== "string") throw new Error("word is missing");
    },
    evaluate: () => undefined,
  };
  registry.register(polite);
  registry.register({
    name: "patient",
    checkOptions: () => Promise.reject(new Error("word is missing")),
    evaluate: () => undefined,
  });
  const check = (name: string, options: JsonObject) =>
    registry.checkCase({ id: "a", userMessages: ["Go"], evaluators: [{ name, options }] });
  for (
    const [name, options, message] of [
      ["efficiency", { threshold: 80 }, 'evaluator "efficiency": The option "threshold"'],
      ["efficiency", { idealTurns: "2" }, 'The option "idealTurns"'],
      ["command", {}, 'The option "command" must be a shell command'],
      ["command", { command: "true", timeoutMs: 0 }, 'The option "timeoutMs"'],
      ["safety", { rubric: 1 }, 'evaluator "safety": The option "rubric"'],
      ["safety", { threshold: "high" }, 'The option "threshold"'],
      ["polite", {}, 'The evaluator "polite": word is missing'],
      ["patient", {}, 'The evaluator "patient": checkOptions() returned a promise'],
    ] as const
  ) {
    assertThrows(() => check(name, options), BadRequestError, message);
  }
  check("efficiency", { threshold: 0.8, idealTurns: 2 });
  check("command", { command: "true" });
  check("safety", { rubric: "Be polite" });
  check("polite", { word: "please" });
});

Deno.test("efficiency: a threshold above 1 is invalid", async () => {
  const evaluators = [{ name: "efficiency", options: { threshold: 80 } }];
  const trajectory = createTrajectory({ calls: [createCall("a")], turns: 2 });
  const [score] = await evaluate({ evaluators }, { trajectory });
  assertEquals(score?.passed, false);
  assertStringIncludes(score?.reason ?? "", "must be from 0 to 1, not 80");
});
