import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createHistory } from "../../../tests/memory/long_history.ts";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import { AbortedError, BadRequestError } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import { instrumentations } from "../../core/hooks/instrumentation.ts";
import type { Policy, PreRequestContext } from "../../core/hooks/policy.ts";
import { userMessage } from "../../core/messages/message.ts";
import { modelSpec } from "../../core/models/model.ts";
import { type Cost, unknownCost, zeroCost } from "../../core/models/usage.ts";
import { budget } from "../../policies/budget.ts";
import { type SharedBudget, sharedBudget } from "../../policies/shared_budget.ts";
import { fakeTool } from "../../testing/fake_tool.ts";
import { assistantMessage, toolCall } from "../../testing/messages.ts";
import { fail, hang, reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { compact } from "./compact.ts";
import { slidingWindow } from "./sliding_window.ts";
import { summarize } from "./summarize.ts";

const usage = { input: 70, output: 30, cacheRead: 0, cacheWrite: 0, total: 100 };
const prices = { "test/model": { input: 1_000_000, output: 1_000_000 } };

/** Creates an agent with a long history, and a transform whose model writes these summaries. */
function createFixture(steps: readonly ScriptedStep[], options: Partial<AgentOptions> = {}) {
  const summaries = scriptedStream(steps);
  const transform = summarize({
    streamFn: summaries,
    contextWindow: 20_000,
    target: 0.2,
    maxSummaryTokens: 500,
    keepSteps: 1,
    prices,
    retry: () => null,
  });
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply("Hello", { usage })]),
    transformContext: transform,
    messages: createHistory(),
    prices,
    ...options,
  });
  const events: AgentEvent[] = [];
  agent.subscribe((event) => void events.push(event));
  return { agent, transform, summaries, events };
}

function getTotals({ spent: { usage, reserved } }: SharedBudget): readonly number[] {
  return [usage.total, reserved.usage.total];
}

for (const preflight of [false, true]) {
  Deno.test(`compact(): counts in a shared budget at once, and not again in the next run, with preflight: ${preflight}`, async () => {
    const limits = sharedBudget({ tokens: 100_000, preflight });
    const { agent, transform, events } = createFixture([reply("s", { usage })], {
      policies: [limits],
    });
    const report = await compact(agent, transform);
    assertEquals(report?.usage, usage);
    assertEquals(report?.cost?.total, 100);
    assertEquals(getTotals(limits), [100, 0]);
    const result = await agent.prompt("Go on");
    assertEquals([result.usage, getTotals(limits)], [usage, [200, 0]]);
    const [compacted] = events.flatMap((event) =>
      event.type === "context_compacted" ? [event.report] : []
    );
    assertEquals([compacted?.summary, compacted?.usage], ["s", undefined]);
  });

  Deno.test(`compact(): writes no summary when a shared budget is used up, with preflight: ${preflight}`, async () => {
    const limits = sharedBudget({ tokens: 150, preflight });
    const other = new Agent({
      model: "test/model",
      streamFn: scriptedStream([reply("Hello", { usage: { ...usage, total: 150 } })]),
      policies: [limits],
      streamOptions: { maxTokens: 10 },
    });
    await other.prompt("Hi");
    const { agent, transform, summaries } = createFixture([], { policies: [limits] });
    const report = await compact(agent, transform);
    assertStringIncludes(report?.problem ?? "", "No summary was written: The");
    assertStringIncludes(report?.problem ?? "", "the limit of 150 tokens");
    assertEquals([report?.droppedCount, summaries.calls.length], [0, 0]);
    assertEquals(getTotals(limits), [150, 0]);
  });
}

Deno.test("compact(): two compactions before a run count both", async () => {
  const limits = sharedBudget({ tokens: 100_000 });
  const steps = [fail("model_throttled", "Slow", { usage }), reply("s", { usage })];
  const { agent, transform } = createFixture(steps, { policies: [limits] });
  await compact(agent, transform);
  await compact(agent, transform);
  assertEquals(getTotals(limits), [200, 0]);
  assertEquals((await agent.prompt("Go on")).usage.total, 100);
});

Deno.test("compact(): the limits of budget() hold for one compaction", async () => {
  const tight = budget({ cost: 1000, preflight: true });
  const refused = createFixture([], { policies: [tight] });
  const report = await compact(refused.agent, refused.transform);
  assertStringIncludes(report?.problem ?? "", "could exceed the cost limit of 1000");
  assertEquals(refused.summaries.calls.length, 0);
  const { agent, transform } = createFixture([reply("s", { usage })], {
    policies: [budget({ tokens: 101 })],
  });
  await compact(agent, transform);
  const { stoppedBy } = await agent.prompt("Go on");
  assertEquals(stoppedBy, undefined);
});

Deno.test("budget(): forgets a compaction that has ended", () => {
  const policy = budget({ cost: 10, unknownPrice: "ignore" });
  const model = modelSpec("test/model");
  const createContext = (cost: Cost): PreRequestContext => ({
    runId: "run_1",
    turn: 0,
    model,
    messages: [],
    usage,
    cost,
    elapsedMs: 0,
    context: undefined,
    signal: new AbortController().signal,
    request: { model, context: { systemPrompt: "", messages: [], tools: [] }, options: {} },
    tools: [],
    contextWindow: undefined,
    maxOutputTokens: undefined,
    rates: undefined,
  });
  const first = createContext({ ...zeroCost(), total: 10 });
  assertEquals(policy.preCompaction?.(first), {
    type: "stop",
    reason: "The run reached the cost limit of 10",
  });
  policy.postCompaction?.(first);
  assertEquals(policy.preCompaction?.(createContext(unknownCost())), undefined);
});

Deno.test("compact(): asks each policy before the call, and reports the end to it", async () => {
  const seen: unknown[] = [];
  const watch: Policy = {
    name: "watch",
    preCompaction: ({ runId, turn, model, request, messages, context }) =>
      void seen.push([
        runId,
        turn,
        model.modelId,
        request.options.maxTokens,
        messages.length,
        context,
      ]),
    postCompaction: ({ runId, usage, cost }) => void seen.push([runId, usage.total, cost.total]),
  };
  const { agent, transform } = createFixture([reply("s", { usage })], {
    policies: [watch],
    newId: (kind) => `${kind}_1`,
    context: "host",
  });
  await compact(agent, transform);
  assertEquals(seen, [["run_1", 0, "model", 500, 18, "host"], ["run_1", 100, 100]]);
});

Deno.test("compact(): a policy that throws stops the call, and one that fails at the end is a warning", async () => {
  const boom = () => {
    throw new Error("broken");
  };
  const guarded = createFixture([], { policies: [{ name: "guard", preCompaction: boom }] });
  const report = await compact(guarded.agent, guarded.transform);
  assertEquals(
    report?.problem,
    'No summary was written: The policy "guard" (preCompaction) failed: broken',
  );
  const { agent, transform, events } = createFixture([reply("s", { usage })], {
    policies: [{ name: "end", postCompaction: boom }],
  });
  assertEquals((await compact(agent, transform))?.summary, "s");
  const [warning] = events;
  assert(warning?.type === "warning" && warning.code === "policy_failed");
  assertEquals(warning.message, 'The policy "end" (postCompaction) failed: broken');
});

Deno.test("compact(): an abort frees what a shared budget has reserved", async () => {
  const limits = sharedBudget({ tokens: 100_000, preflight: true });
  const { agent, transform } = createFixture([hang()], { policies: [limits] });
  const controller = new AbortController();
  const compacting = compact(agent, transform, { signal: controller.signal });
  while (getTotals(limits)[1] === 0) await new Promise((resolve) => setTimeout(resolve));
  controller.abort("enough");
  await assertRejects(() => compacting, AbortedError);
  assertEquals(getTotals(limits), [0, 0]);
});

Deno.test("compact(): an agent of a tool asks the policies of its run, too", async () => {
  const limits = sharedBudget({ tokens: 100_000 });
  let spent: readonly number[] = [];
  const tool = fakeTool({
    name: "delegate",
    result: async (_args, { run }) => {
      const { agent, transform } = createFixture([reply("s", { usage })], { parent: run });
      await compact(agent, transform);
      spent = getTotals(limits);
      return "ok";
    },
  });
  const host = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([toolCall("delegate")], { usage }), reply("Done", { usage })]),
    tools: [tool],
    policies: [limits],
  });
  await host.prompt("Go");
  assertEquals([spent, getTotals(limits)], [[200, 0], [300, 0]]);
});

Deno.test("compact(): is not observed as a run by tracing, since it has no end that would end a span", async () => {
  const { agent, transform } = createFixture([reply("s", { usage })]);
  const observed: string[] = [];
  instrumentations.set(agent.state, {
    observeRun: ({ model }) => {
      observed.push(model.modelId);
      return {
        onEvent: () => {},
        onCancel: () => {},
        callModel: (_request, call) => call(),
        executeTool: (_id, execute) => execute(),
        getTraceHeaders: () => ({}),
      };
    },
  });
  assert(await compact(agent, transform));
  assertEquals(observed, []);
  await agent.prompt("Go on");
  assertEquals(observed, ["model"]);
});

Deno.test("compact(): refuses unknown and invalid options", async () => {
  const { agent, transform } = createFixture([]);
  for (
    const options of [null, { tokens: -1 }, { tokens: 1n }, { signal: {} }, { instruction: "" }]
  ) {
    await assertRejects(
      () => compact(agent, transform, options as unknown as Parameters<typeof compact>[2]),
      BadRequestError,
    );
  }
});

Deno.test("compact() makes the request smaller that the provider has rejected", async () => {
  const error = fail("context_window_overflow", "Too long");
  const streamFn = scriptedStream([error, error, reply("ok")]);
  const transform = slidingWindow({ contextWindow: 4_000, overflowTarget: 0.6 });
  const agent = new Agent({
    model: "p/m",
    streamFn,
    transformContext: transform,
    messages: ["q".repeat(4_600), ...Array(12).fill("a".repeat(600))].map((text) =>
      userMessage(text, 0)
    ),
  });
  await agent.prompt("first");
  const report = await compact(agent, transform, { tokens: 1_460 });
  const result = await agent.continue();
  assertEquals([report?.droppedCount, result.error], [10, undefined]);
  assertEquals(streamFn.calls[2]?.context.messages.length, 4);
});

Deno.test("compact() keeps messages that are shorter than their summary", async () => {
  const transform = summarize({
    streamFn: scriptedStream([reply("z".repeat(1_000), { usage })]),
    contextWindow: 10_000,
    keepSteps: 1,
  });
  const messages = ["one", "two", "three"].flatMap((text) => [
    userMessage(text, 0),
    assistantMessage(text),
  ]);
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply("ok")]),
    transformContext: transform,
    messages,
  });
  const report = await compact(agent, transform, { tokens: 0 });
  assertEquals([report?.droppedCount, report?.usage, transform.cut], [0, usage, undefined]);
  assertStringIncludes(String(report?.problem), "not shorter");
});

Deno.test("compact(): a request after the next one that the provider rejects becomes smaller", async () => {
  const error = fail("context_window_overflow", "Too long");
  const transform = slidingWindow({ contextWindow: 4_000 });
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok"), error, reply("ok")]),
    transformContext: transform,
    messages: Array.from({ length: 12 }, () => userMessage("q".repeat(600), 0)),
  });
  await compact(agent, transform, { tokens: 1_460 });
  const results = [await agent.prompt("first"), await agent.prompt("second")];
  assertEquals(results.map((result) => result.error), [undefined, undefined]);
});

Deno.test("compact(): replies to requests of a run that starts meanwhile cause no other cut", async () => {
  const written = Promise.withResolvers<void>();
  const summaries = scriptedStream([reply("s"), reply("again")]);
  const transform = summarize({
    streamFn: async function* (request) {
      await written.promise;
      yield* summaries(request);
    },
    contextWindow: 10_000,
    keepSteps: 1,
  });
  const long = { ...usage, input: 8_000, output: 1, total: 8_001 };
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply("during", { usage: long }), reply("ok")]),
    transformContext: transform,
    messages: createHistory(7),
  });
  const compacting = compact(agent, transform, { tokens: 3_000 });
  await agent.prompt("first");
  written.resolve();
  await compacting;
  await agent.prompt(`second ${"x".repeat(4_000)}`);
  assertEquals([summaries.calls.length, transform.cut?.summary], [1, "s"]);
});
