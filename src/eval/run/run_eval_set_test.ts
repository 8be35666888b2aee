import { assertEquals, assertNotEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { defineTool } from "../../core/tools/tool.ts";
import { fakeTool } from "../../testing/fake_tool.ts";
import { toolCall } from "../../testing/messages.ts";
import { hang, reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import type { EvalCase, EvalSet } from "../case/eval_case.ts";
import { EvaluatorRegistry } from "../evaluators/evaluator_registry.ts";
import type { CaseResult } from "./case_result.ts";
import type { MakeAgent } from "./run_case.ts";
import { runEvalSet } from "./run_eval_set.ts";

const HELLO = { type: "contains", text: "Hello" } as const;

function createSet(...cases: Partial<EvalCase>[]): EvalSet {
  const withDefaults = cases.map((overrides, index) => ({
    id: `case_${index + 1}`,
    userMessages: ["Go"],
    expectedResponse: HELLO,
    ...overrides,
  }));
  return { id: "set", cases: withDefaults };
}

function createAgent(...steps: ScriptedStep[]): Agent {
  return new Agent({
    model: "test/model",
    streamFn: scriptedStream(steps),
    tools: [fakeTool({ name: "step" })],
  });
}

function answerWith(...steps: ScriptedStep[]): MakeAgent {
  return () => createAgent(...steps);
}

const greet = answerWith(reply("Hello"));

const outcomes = (results: readonly CaseResult[]) => results.map(({ outcome }) => outcome);

Deno.test("runEvalSet: a set without cases has no results [A154]", async () => {
  assertEquals(await runEvalSet(createSet(), greet), { setId: "set", results: [] });
});

Deno.test("runEvalSet: an agent that cannot be created fails its case, and others continue [A154]", async () => {
  const { results } = await runEvalSet(createSet({}, {}, {}), (request) => {
    if (request.evalCase.id === "case_2") throw new Error("no key");
    return greet(request);
  });
  assertEquals(outcomes(results), ["passed", "failed", "passed"]);
  const [score] = results[1]?.scores ?? [];
  assertEquals(score, { metric: "run", value: 0, passed: false, reason: "no key" });
});

Deno.test("runEvalSet: a case with no evaluator that applies fails [A154]", async () => {
  const { results } = await runEvalSet(createSet({ expectedResponse: undefined }), greet);
  assertEquals(outcomes(results), ["failed"]);
});

Deno.test("runEvalSet: a run whose model call fails does not pass by its other metrics", async () => {
  const makeAgent: MakeAgent = () =>
    new Agent({
      model: "test/model",
      streamFn: () => {
        throw new Error("no connection");
      },
    });
  const set = createSet({ expectedResponse: undefined, budget: { maxTurns: 5 } });
  const { results } = await runEvalSet(set, makeAgent);
  assertEquals(outcomes(results), ["failed"]);
  assertStringIncludes(results[0]?.scores[0]?.reason ?? "", "no connection");
});

Deno.test("runEvalSet: a cancelled evaluation skips all cases [A154]", async () => {
  const { results } = await runEvalSet(createSet({}, {}), greet, { signal: AbortSignal.abort() });
  assertEquals(outcomes(results), ["skipped", "skipped"]);
});

Deno.test("runEvalSet: an abort ends a run that hangs, and skips it and the next ones", async () => {
  const controller = new AbortController();
  const { results } = await runEvalSet(createSet({}, {}, {}), (request) => {
    if (request.evalCase.id === "case_1") return greet(request);
    queueMicrotask(() => controller.abort());
    return answerWith(hang())(request);
  }, { signal: controller.signal });
  assertEquals(outcomes(results), ["passed", "skipped", "skipped"]);
});

Deno.test("runEvalSet: several messages are several runs of one agent", async () => {
  const makeAgent = answerWith(reply("One"), reply("Hello two"));
  const { results } = await runEvalSet(createSet({ userMessages: ["a", "b"] }), makeAgent);
  assertEquals(outcomes(results), ["passed"]);
  assertEquals(results[0]?.trajectory?.turns, 2);
});

/** Returns the reason why the only run of a set failed by itself. */
async function getRunFailure(set: EvalSet, makeAgent: MakeAgent): Promise<string | undefined> {
  const { results: [result] } = await runEvalSet(set, makeAgent);
  assertEquals(result?.outcome, "failed");
  return result?.scores.find(({ metric }) => metric === "run")?.reason;
}

const ANY_RESPONSE = createSet({ expectedResponse: { type: "exact", text: "" } });

Deno.test("runEvalSet: a run whose agent did nothing does not pass, unless that is expected", async () => {
  const nothing = "The agent did nothing: it has neither a reply with a text nor a tool call";
  const expectedResponse = undefined;
  for (
    const expectations of [
      { budget: { maxTurns: 5 } },
      { expectedFiles: [{ type: "missing", path: "a" }] },
      { expectedTrajectory: { match: "exact", calls: [] } },
    ] as const
  ) {
    const set = createSet({ expectedResponse, ...expectations });
    assertEquals(await getRunFailure(set, answerWith(reply(" \n"))), nothing);
    assertEquals(outcomes((await runEvalSet(set, answerWith(reply("Hi")))).results), ["passed"]);
  }
  const { results } = await runEvalSet(ANY_RESPONSE, answerWith(reply("")));
  assertEquals(outcomes(results), ["passed"]);
  const calls = createSet({ expectedResponse, budget: { maxTurns: 5 } });
  const called = answerWith(reply([toolCall("step")]), reply(""));
  assertEquals(outcomes((await runEvalSet(calls, called)).results), ["passed"]);
});

Deno.test("runEvalSet: a run that a tool aborts does not pass", async () => {
  const failure = await getRunFailure(ANY_RESPONSE, () => {
    const step = fakeTool({
      name: "step",
      result: () => {
        agent.abort("enough");
        return "ok";
      },
    });
    const streamFn = scriptedStream([reply([toolCall("step")]), reply("Hello")]);
    const agent: Agent = new Agent({ model: "test/model", streamFn, tools: [step] });
    return agent;
  });
  assertEquals(failure, "The run was aborted");
});

Deno.test("runEvalSet: a run that waits for an approval does not pass", async () => {
  const failure = await getRunFailure(ANY_RESPONSE, () =>
    new Agent({
      model: "test/model",
      streamFn: scriptedStream([reply([toolCall("step")])]),
      tools: [fakeTool({ name: "step" })],
      approve: () => ({ type: "pending" }),
    }));
  assertEquals(failure, "The run waits for the approval of step");
});

Deno.test("runEvalSet: an agent of another run fails its case", async () => {
  const agent = createAgent(reply("Hello"), reply("Hello"));
  const { results } = await runEvalSet(createSet({}, {}), () => agent);
  assertEquals(outcomes(results), ["passed", "failed"]);
  assertStringIncludes(results[1]?.scores[0]?.reason ?? "", "the agent of another run");
});

Deno.test("runEvalSet: an agent is disposed of before its run is scored", async () => {
  const events: string[] = [];
  const evaluators = new EvaluatorRegistry();
  evaluators.register({
    name: "order",
    evaluate: () => {
      events.push("evaluate");
      return { metric: "order", value: 1, passed: true };
    },
  }, { isDefault: true });
  const { results } = await runEvalSet(createSet({}), () => ({
    agent: createAgent(reply("Hello")),
    [Symbol.asyncDispose]: () => {
      events.push("dispose");
      return Promise.reject(new Error("still busy"));
    },
  }), { evaluators });
  assertEquals(events, ["dispose", "evaluate"]);
  assertEquals(results[0]?.scores[0]?.reason, "still busy");
});

Deno.test("runEvalSet: results have the model and the seed of their run", async () => {
  const seeds: number[] = [];
  const { results } = await runEvalSet(createSet({ model: "test/other" }), (request) => {
    seeds.push(request.seed);
    return greet(request);
  });
  assertEquals(results.map(({ model, seed }) => [model, seed]), [["test/other", seeds[0]]]);
});

Deno.test("runEvalSet: omits the calls of the results that it returns, not of those that it reports", async () => {
  const lengths: (number | undefined)[] = [];
  const makeAgent = answerWith(reply([toolCall("step")]), reply("Hello"));
  const { results } = await runEvalSet(createSet({}), makeAgent, {
    omitCalls: true,
    onResult: ({ trajectory }) => void lengths.push(trajectory?.calls.length),
  });
  assertEquals(lengths, [1]);
  assertEquals(results[0]?.trajectory?.calls, []);
  assertEquals(results[0]?.trajectory?.turns, 2);
});

Deno.test("runEvalSet: an abort ends the wait for an agent that is never created", async () => {
  const controller = new AbortController();
  const { results } = await runEvalSet(createSet({}), () => {
    queueMicrotask(() => controller.abort());
    return new Promise(() => {});
  }, { signal: controller.signal });
  assertEquals(outcomes(results), ["skipped"]);
});

Deno.test("runEvalSet: an error of onResult aborts the other runs and rejects", async () => {
  const results: string[] = [];
  const makeAgent: MakeAgent = (request) =>
    request.evalCase.id === "case_1" ? greet(request) : answerWith(hang())(request);
  const evaluation = runEvalSet(createSet({}, {}, {}), makeAgent, {
    parallel: 2,
    onResult: ({ caseId, outcome }) => {
      results.push(`${caseId} ${outcome}`);
      if (caseId === "case_1") throw new Error("disk full");
    },
  });
  await assertRejects(() => evaluation, Error, "disk full");
  assertEquals(results, ["case_1 passed", "case_2 skipped"]);
});

Deno.test("runEvalSet: a value that is no agent fails its case", async () => {
  const values: unknown[] = [undefined, null, "agent", {}, { agent: null }];
  for (const value of values) {
    // A function from untyped code.
    const makeAgent = (() => value) as MakeAgent;
    const reason = await getRunFailure(createSet({}), makeAgent);
    assertStringIncludes(reason ?? "", "makeAgent() must return an agent, not ");
  }
  const { results } = await runEvalSet(
    createSet({}),
    () => ({ agent: createAgent(reply("Hello")) }),
  );
  assertEquals(outcomes(results), ["passed"]);
});

Deno.test("runEvalSet: rejects unknown options, sets without cases and cases without messages", async () => {
  // Values from untyped code.
  const options = JSON.parse('{ "parralel": 4 }');
  await assertRejects(
    () => runEvalSet(createSet({}), greet, options),
    BadRequestError,
    "parallel?",
  );
  const empty = JSON.parse("{}");
  await assertRejects(() => runEvalSet(empty, greet), BadRequestError, "a list of cases");
  await assertRejects(
    () => runEvalSet(createSet({ userMessages: [] }), greet),
    BadRequestError,
    'The case "case_1" needs at least one message',
  );
  await assertRejects(
    () => runEvalSet(createSet({}), greet, { seeds: [] }),
    BadRequestError,
    "at least one number",
  );
  await assertRejects(() => runEvalSet(createSet({}), empty), BadRequestError, "the function");
});

Deno.test("runEvalSet: rejects expectations that cannot be checked", async () => {
  const set = createSet({ expectedResponse: { type: "regex", pattern: "(" } });
  await assertRejects(() => runEvalSet(set, greet), BadRequestError, "pattern is invalid");
});

Deno.test("runEvalSet: rejects more repetitions than the memory may have", async () => {
  for (const repetitions of [1e9, 100_001]) {
    await assertRejects(
      () => runEvalSet(createSet({ repetitions }), greet),
      BadRequestError,
      "at most 100000",
    );
  }
});

Deno.test("runEvalSet: rejects ids that are paths", async () => {
  const set = createSet({ id: "../case" });
  await assertRejects(() => runEvalSet(set, greet), BadRequestError, '"../case"');
});

Deno.test("runEvalSet: a budget stops the run, which fails [A152]", async () => {
  const steps = [reply([toolCall("step")]), reply([toolCall("step")]), reply("Hello")];
  const { results } = await runEvalSet(
    createSet({ expectedResponse: undefined, budget: { maxTurns: 2 } }),
    answerWith(...steps),
  );
  assertEquals(outcomes(results), ["failed"]);
  assertEquals(results[0]?.trajectory?.turns, 2);
  assertEquals(results[0]?.scores[0]?.reason, "The budget stopped the run: 3 turns exceed 2");
});

Deno.test("runEvalSet: a clock that is set back gives no negative duration", async () => {
  let time = 1_000;
  const { results } = await runEvalSet(createSet({}), greet, { now: () => time -= 10 });
  assertEquals(results[0]?.durationMs, 0);
});

Deno.test("runEvalSet: a change of the clock changes neither durations nor the budget", async () => {
  const budget = { maxDurationMs: 1_000 };
  for (const [step, length] of [[3_600_000, 10], [-3_600_000, 10], [0, 2_000]] as const) {
    let time = 1e12;
    let elapsed = 0;
    const { results: [result] } = await runEvalSet(createSet({ budget }), () => {
      const streamFn = scriptedStream([reply([toolCall("step")]), reply("Hello")]);
      const step_ = fakeTool({
        name: "step",
        result: () => {
          time += step;
          elapsed += length;
          return "done";
        },
      });
      return new Agent({ model: "test/model", streamFn, tools: [step_], now: () => time });
    }, { now: () => time, elapsed: () => elapsed });
    const expected = length > 1_000 ? "failed" : "passed";
    assertEquals([result?.outcome, result?.durationMs], [expected, length]);
  }
});

Deno.test("runEvalSet: a finished result with another seed is made again", async () => {
  const set = createSet({});
  const run = async (seeds: readonly number[], finished?: readonly CaseResult[]) => {
    const made: number[] = [];
    const { results } = await runEvalSet(set, (request) => {
      made.push(request.seed);
      return greet(request);
    }, { seeds, finished });
    return { made, results };
  };
  const { results } = await run([1, 2]);
  assertEquals((await run([1, 2], results)).made, []);
  const other = await run([1, 7], results);
  assertEquals([other.made, other.results.map(({ seed }) => seed)], [[7], [1, 7]]);
});

Deno.test("runEvalSet: at most `parallel` cases run, and results keep the order of the cases", async () => {
  let running = 0;
  let most = 0;
  const makeAgent: MakeAgent = async (request) => {
    running++;
    most = Math.max(most, running);
    await Promise.resolve();
    return greet(request);
  };
  const cases = Array.from({ length: 20 }, () => ({}));
  const onResult = () => void running--;
  const { results } = await runEvalSet(createSet(...cases), makeAgent, { parallel: 3, onResult });
  assertEquals(most, 3);
  assertEquals(results.map(({ caseId }) => caseId), cases.map((_, index) => `case_${index + 1}`));
});

Deno.test("runEvalSet: keeps finished results and runs skipped ones again", async () => {
  const set = createSet({}, {});
  const { results } = await runEvalSet(set, greet);
  const [first, second] = results;
  if (!first || !second) throw new Error("The set has two results");
  const started: string[] = [];
  const resumed = await runEvalSet(set, (request) => {
    started.push(request.evalCase.id);
    return greet(request);
  }, { finished: [first, { ...second, outcome: "skipped" }] });
  assertEquals(started, ["case_2"]);
  assertEquals(outcomes(resumed.results), ["passed", "passed"]);
});

Deno.test("runEvalSet: seeds differ between repetitions and repeat with the same seed", async () => {
  const collectSeeds = async (seed?: number) => {
    const seeds: number[] = [];
    await runEvalSet(createSet({ repetitions: 3 }), (request) => {
      seeds.push(request.seed);
      return greet(request);
    }, { seed });
    return seeds;
  };
  const seeds = await collectSeeds(1);
  assertEquals(new Set(seeds).size, 3);
  assertEquals(await collectSeeds(1), seeds);
  assertEquals(await collectSeeds(), await collectSeeds(0));
  assertNotEquals(await collectSeeds(2), seeds);
});

Deno.test("runEvalSet: rejects 0 parallel runs and 0 repetitions [A159]", async () => {
  const message = "must be a whole number of at least 1";
  await assertRejects(
    () => runEvalSet(createSet({}), greet, { parallel: 0 }),
    BadRequestError,
    message,
  );
  await assertRejects(
    () => runEvalSet(createSet({ repetitions: 0 }), greet),
    BadRequestError,
    message,
  );
});

Deno.test("runEvalSet: sets the system prompt and the tools of the case", async () => {
  const agents: Agent[] = [];
  const set = createSet({ systemPrompt: "Be brief", tools: [] }, { tools: ["missing"] });
  const { results } = await runEvalSet(set, () => {
    const agent = createAgent(reply("Hello"));
    agents.push(agent);
    return agent;
  });
  assertEquals(agents[0]?.state.systemPrompt, "Be brief");
  assertEquals(agents[0]?.state.tools, []);
  assertEquals(results[1]?.scores[0]?.reason, 'The agent has no tool "missing"');
});

/** Returns an agent whose tool appends a line to `notes.txt`. */
const appendLine: MakeAgent = async ({ getDirectory }) => {
  const path = `${await getDirectory()}/notes.txt`;
  const append = defineTool({
    name: "append",
    description: "Appends a line.",
    parameters: { type: "object", properties: {} },
    execute: async () => {
      await Deno.writeTextFile(path, "more\n", { append: true });
      return "done";
    },
  });
  const streamFn = scriptedStream([reply([toolCall("append")]), reply("Hello")]);
  return new Agent({ model: "test/model", streamFn, tools: [append] });
};

Deno.test("runEvalSet: each run has a copy of the fixture, which is removed", async () => {
  const directory = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${directory}/project/sub`, { recursive: true });
    await Deno.writeTextFile(`${directory}/project/notes.txt`, "first\n");
    await Deno.writeTextFile(`${directory}/project/sub/a.txt`, "a");
    const paths = new Set<string>();
    const cases = createSet({
      fixture: "project",
      repetitions: 3,
      expectedFiles: [
        { type: "equals", path: "notes.txt", text: "first\nmore\n" },
        { type: "exists", path: "sub/a.txt" },
        { type: "missing", path: "b.txt" },
      ],
    });
    const { results } = await runEvalSet({ ...cases, directory }, async (request) => {
      paths.add(await request.getDirectory());
      return appendLine(request);
    }, { parallel: 3 });
    assertEquals(outcomes(results), ["passed", "passed", "passed"]);
    assertEquals(await Deno.readTextFile(`${directory}/project/notes.txt`), "first\n");
    assertEquals(paths.size, 3);
    for (const path of paths) await assertRejects(() => Deno.stat(path));
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("runEvalSet: a fixture that is no directory fails its case", async () => {
  for (const fixture of ["/none", "deno.json"]) {
    const reason = await getRunFailure(createSet({ fixture }), greet);
    assertEquals(reason, `The fixture "${fixture}" is not a directory, or does not exist`);
  }
});

Deno.test("runEvalSet: a directory that the agent made read-only is removed", async () => {
  let path = "";
  const { results } = await runEvalSet(createSet({}), async (request) => {
    path = await request.getDirectory();
    await Deno.mkdir(`${path}/cache/package`, { recursive: true });
    await Deno.writeTextFile(`${path}/cache/package/file`, "content");
    await Deno.chmod(`${path}/cache/package`, 0o555);
    await Deno.chmod(`${path}/cache`, 0o555);
    return greet(request);
  });
  assertEquals(outcomes(results), ["passed"]);
  await assertRejects(() => Deno.stat(path));
});

Deno.test("runEvalSet: a fixture with a link fails its case", async () => {
  const directory = await Deno.makeTempDir();
  try {
    await Deno.symlink("/etc/passwd", `${directory}/link`);
    const { results } = await runEvalSet(createSet({ fixture: directory }), greet);
    assertStringIncludes(results[0]?.scores[0]?.reason ?? "", "link");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("files: a link out of the directory of the case is not read", async () => {
  const makeAgent: MakeAgent = async (request) => {
    await Deno.symlink("/etc/passwd", `${await request.getDirectory()}/notes.txt`);
    return greet(request);
  };
  const expectedFiles = [{ type: "exists", path: "notes.txt" }] as const;
  const { results } = await runEvalSet(createSet({ expectedFiles }), makeAgent);
  assertStringIncludes(results[0]?.scores[1]?.reason ?? "", "outside");
});
