import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { TransformContext, TransformRequest } from "../../src/core/context/context.ts";
import { BadRequestError, NoMessagesError } from "../../src/core/errors/errors.ts";
import type { Policy, PreRequestContext } from "../../src/core/hooks/policy.ts";
import type { CompactionReport } from "../../src/core/messages/compaction_report.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import type { Usage } from "../../src/core/models/usage.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { summarize } from "../../src/memory/context/summarize.ts";
import { budget } from "../../src/policies/budget.ts";
import type { BudgetOptions } from "../../src/policies/budget_limits.ts";
import { sharedBudget } from "../../src/policies/shared_budget.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { assistantMessage, toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";

const model = "any/model";

function count(total: number): Usage {
  return { input: total, output: 0, cacheRead: 0, cacheWrite: 0, total };
}

/** Creates an agent whose history must be summarized, with the model calls of both. */
function createCompacting(
  { summaries = [reply("A summary", { usage: count(100) })], retry = () => null, ...options }:
    & Partial<AgentOptions>
    & { readonly summaries?: Parameters<typeof scriptedStream>[0] },
) {
  const writer = scriptedStream(summaries);
  const streamFn = scriptedStream([reply("Done", { usage: count(100) })]);
  const agent = new Agent({
    model,
    streamFn,
    transformContext: summarize({
      streamFn: writer,
      contextWindow: 10_000,
      maxSummaryTokens: 500,
      keepSteps: 1,
      retry,
    }),
    messages: Array.from({ length: 12 }, (_, index) => [
      userMessage(`question ${index} ${"q".repeat(2000)}`, index),
      assistantMessage(`answer ${index} ${"a".repeat(2000)}`),
    ]).flat(),
    ...options,
  });
  return { agent, writer, streamFn };
}

const budgets: Record<string, (options: BudgetOptions) => Policy> = { budget, sharedBudget };

for (const [name, create] of Object.entries(budgets)) {
  Deno.test(`${name}() with preflight: a summary that could exceed the limit is not requested, and stops the run`, async () => {
    for (const [tokens, calls] of [[50_000, 1], [2000, 0]] as const) {
      const policies = [create({ tokens, preflight: { maxOutputTokens: 100 } })];
      const { agent, writer, streamFn } = createCompacting({ policies });
      const events = await checkEvents(agent.promptStream("Go"));
      assertEquals(
        [writer.calls.length, streamFn.calls.length],
        [calls, calls],
        `${tokens} tokens`,
      );
      const end = events.at(-1);
      assert(end?.type === "agent_end");
      assertEquals(end.stoppedBy !== undefined, calls === 0);
      if (!end.stoppedBy) continue;
      assertStringIncludes(end.stoppedBy.reason, "The next request could exceed the limit of 2000");
      assertEquals([end.usage.total, end.error], [0, undefined]);
    }
  });

  Deno.test(`${name}() with preflight: the attempts of a summary count before its retry is checked`, async () => {
    const failure = fail("network_error", "down", { usage: count(8000) });
    const policies = [create({ tokens: 12_000, preflight: { maxOutputTokens: 100 } })];
    const { agent, writer, streamFn } = createCompacting({
      policies,
      retry: () => 0,
      summaries: [failure, reply("A summary")],
    });
    const { stoppedBy, usage } = await agent.prompt("Go");
    assertEquals([writer.calls.length, streamFn.calls.length], [1, 0]);
    assertStringIncludes(stoppedBy?.reason ?? "", "8000 tokens are spent");
    assertEquals(usage.total, 8000);
  });
}

Deno.test("sharedBudget() with preflight: a summary stays reserved until it is written", async () => {
  const total = sharedBudget({ tokens: 50_000, preflight: { maxOutputTokens: 100 } });
  let reserved = 0;
  const { agent } = createCompacting({
    policies: [total],
    summaries: [() => {
      reserved = total.spent.reserved.usage.total;
      return reply("A summary", { usage: count(100) });
    }],
  });
  await agent.prompt("Go");
  assert(reserved > 1000, `${reserved} tokens are reserved`);
  assertEquals(total.spent.reserved.usage.total, 0);
  assertEquals(total.spent.usage.total, 200);
});

Deno.test("budget() with preflight: a summary is checked at the prices and the maximum of its own model", async () => {
  const summaries = [reply("A summary", { usage: count(100) })];
  for (const [cost, calls] of [[1000, 1], [500, 0]] as const) {
    const writer = Object.assign(scriptedStream(summaries), {
      prices: { writer: { input: 0, output: 2_000_000 } },
    });
    const { agent } = createCompacting({
      policies: [budget({ cost, preflight: true })],
      prices: { writer: { input: 0, output: 2_000_000 }, model: { input: 0, output: 0 } },
      transformContext: summarize({
        streamFn: writer,
        model: "any/writer",
        contextWindow: 10_000,
        maxSummaryTokens: 500,
        keepSteps: 1,
      }),
    });
    await agent.prompt("Go");
    assertEquals(writer.calls.length, calls, `cost ${cost}`);
  }
});

Deno.test("preCompaction: gets the request of a summary, and fails closed", async () => {
  const seen: PreRequestContext[] = [];
  const watch: Policy = { name: "watch", preCompaction: (context) => void seen.push(context) };
  const { agent, writer } = createCompacting({ policies: [watch] });
  await agent.prompt("Go");
  assertEquals(seen.length, 1);
  assertEquals(seen[0]?.request.context, writer.calls[0]?.context);
  assertEquals(seen[0]?.request.options.maxTokens, 500);
  const failures: Policy[] = [
    { name: "guard", preCompaction: () => Promise.reject(new Error("no answer")) },
    { name: "guard", preCompaction: () => ({ type: "change" }) as never },
  ];
  for (const policy of failures) {
    const broken = createCompacting({ policies: [policy] });
    const { error } = await broken.agent.prompt("Go");
    assertEquals([broken.writer.calls.length, broken.streamFn.calls.length], [0, 0]);
    assertStringIncludes(error?.message ?? "", 'The policy "guard" (preCompaction) failed');
  }
});

Deno.test("preCompaction: a summary that a policy stopped is written by the next run", async () => {
  let isOpen = false;
  const policies: Policy[] = [{
    name: "hours",
    preCompaction: () => isOpen ? undefined : { type: "stop", reason: "closed" },
  }];
  const { agent, writer } = createCompacting({ policies });
  assertEquals((await agent.prompt("Go")).stoppedBy, { policy: "hours", reason: "closed" });
  isOpen = true;
  assertEquals((await agent.continue()).text, "Done");
  assertEquals(writer.calls.length, 1);
});

Deno.test("budget({ elapsedMs }): cancels a summary that takes too long", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  const policies = [budget({ elapsedMs: 1000 })];
  const { agent } = createCompacting({ policies, summaries: [hang()], now, sleep });
  const running = agent.prompt("Go");
  for (let step = 0; step < 10; step++) {
    await new Promise((resolve) => setTimeout(resolve));
    clock.advance(250);
  }
  agent.abort("too late");
  const { stoppedBy, abortReason } = await running;
  assertEquals([stoppedBy?.policy, abortReason], ["budget", undefined]);
});

const REPORT: CompactionReport = {
  droppedCount: 0,
  tokensBefore: 9,
  tokensAfter: 9,
  usage: count(40),
};

Deno.test("report of transformContext: counts once, also if no request follows or the same is sent again", async () => {
  const overflow = fail("context_window_overflow", "too long", { usage: count(2) });
  const overflowOnly: TransformContext = (messages, input) =>
    input.overflow ? { messages, report: REPORT } : messages;
  const always: TransformContext = (messages) => ({ messages, report: REPORT });
  const cases: [string, Partial<AgentOptions>, StreamFn, number][] = [
    [
      "a context that did not get smaller",
      { transformContext: overflowOnly },
      scriptedStream([overflow]),
      42,
    ],
    [
      "a hook that fails afterwards",
      {
        transformContext: always,
        convertToLlm: () => {
          throw new NoMessagesError("none");
        },
      },
      scriptedStream([]),
      40,
    ],
  ];
  for (const [title, options, streamFn, total] of cases) {
    const agent = new Agent({ model, streamFn, ...options });
    const events = await checkEvents(agent.promptStream("Go"));
    const end = events.at(-1);
    assertEquals(end?.type === "agent_end" && end.usage.total, total, title);
    assertEquals(events.filter(({ type }) => type === "context_compacted").length, 1, title);
  }
});

Deno.test("report of transformContext: counts once if a rejected schema is sent again as a tool", async () => {
  const streamFn = Object.assign(
    scriptedStream([
      fail("bad_request", "unsupported schema"),
      reply([toolCall("structured_output", { n: 1 })], { usage: count(2) }),
    ]),
    { hasStrictSchema: () => true },
  );
  const transformContext: TransformContext = (messages) => ({ messages, report: REPORT });
  const agent = new Agent({ model, streamFn, transformContext });
  let reports = 0;
  agent.subscribe(({ type }) => void (type === "context_compacted" && reports++));
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const { usage } = await agent.structuredOutput("Count", schema, { full: true });
  assertEquals([streamFn.calls.length, reports, usage.total], [2, 1, 42]);
});

Deno.test("checkRequest() rejects when the transform has settled, so that nothing stays reserved", async () => {
  const total = sharedBudget({ tokens: 50_000, preflight: true });
  const streamFn = scriptedStream([reply("Done")]);
  let checkLater = () => Promise.resolve<unknown>(undefined);
  const transformContext: TransformContext = (messages, { checkRequest, model }) => {
    const request = { model, context: { systemPrompt: "", messages: [], tools: [] }, options: {} };
    checkLater = () => Promise.resolve(checkRequest?.({ ...request, streamFn }));
    return messages;
  };
  const agent = new Agent({ model, streamFn, transformContext, policies: [total] });
  await agent.prompt("Go");
  await assertRejects(checkLater, BadRequestError, "before transformContext settles");
  assertEquals(total.spent.reserved.usage.total, 0);
});

Deno.test("checkRequest(): of several refusals at the same time the first stops the run", async () => {
  let asked = 0;
  const guard: Policy = {
    name: "guard",
    preCompaction: async () => {
      const reason = `refused ${++asked}`;
      await Promise.resolve();
      return { type: "stop", reason };
    },
  };
  const streamFn = scriptedStream([]);
  const transformContext: TransformContext = async (messages, { checkRequest }) => {
    const context = { systemPrompt: "", messages: [], tools: [] };
    const request = { model: modelSpec(model), context, options: {}, streamFn };
    await Promise.all([checkRequest?.(request), checkRequest?.(request)]);
    return messages;
  };
  const agent = new Agent({ model, streamFn, transformContext, policies: [guard] });
  const { stoppedBy } = await agent.prompt("Go");
  assertEquals([asked, stoppedBy], [2, { policy: "guard", reason: "refused 1" }]);
});

Deno.test("checkRequest() says what to pass", async () => {
  const request = { model: modelSpec(model), context: {}, options: {}, streamFn: () => {} };
  const cases: [unknown, string][] = [
    [undefined, "Pass checkRequest() the model call, as { model, context, options, streamFn }"],
    [{ ...request, model }, `pass modelSpec("${model}")`],
    [{ ...request, context: undefined }, "the context of the model call"],
    [{ ...request, options: null }, "the options of the model call"],
    [{ ...request, streamFn: {} }, "streamFn of checkRequest() must be a function"],
  ];
  for (const [passed, message] of cases) {
    const agent = new Agent({
      model,
      streamFn: scriptedStream([]),
      policies: [budget({ tokens: 100, preflight: true })],
      transformContext: async (messages, { checkRequest }) => {
        await checkRequest?.(passed as TransformRequest);
        return messages;
      },
    });
    const { error } = await agent.prompt("Go");
    assertEquals(error?.code, "bad_request");
    assertStringIncludes(error?.message ?? "", message);
  }
});
