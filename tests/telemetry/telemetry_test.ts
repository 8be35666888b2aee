import * as api from "@opentelemetry/api";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Agent, BadRequestError, errorResult, textResult } from "../../mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { telemetry, type TelemetryOptions } from "../../src/telemetry/mod.ts";
import { fail, fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { describeTree, find, register, traceRun, usage, weather } from "./test_tracing.ts";

const { trace } = api;

Deno.test("telemetry(): creates a span for the run, each model call and each tool call", async () => {
  const streamFn = scriptedStream([
    reply([toolCall("weather", {}, { id: "call-1" })], { usage, responseId: "r-1" }),
    reply("It is sunny."),
  ]);
  const streamOptions = { maxTokens: 100, temperature: 0.5, topP: 0.9, stop: ["END"], seed: 7 };
  const spans = await traceRun(
    { streamFn, streamOptions, tools: [weather], newId: (kind) => `${kind}-id` },
    { agentName: "helper" },
  );
  assertEquals(describeTree(spans), [
    "chat claude < invoke_agent helper",
    "execute_tool weather < invoke_agent helper",
    "chat claude < invoke_agent helper",
    "invoke_agent helper",
  ]);
  const { "gen_ai.response.time_to_first_chunk": firstChunk, ...chat } =
    find(spans, "chat claude").attributes;
  assertEquals(typeof firstChunk, "number");
  assertEquals(chat, {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude",
    "gen_ai.agent.name": "helper",
    "gen_ai.request.stream": true,
    "gen_ai.request.max_tokens": 100,
    "gen_ai.request.temperature": 0.5,
    "gen_ai.request.top_p": 0.9,
    "gen_ai.request.stop_sequences": ["END"],
    "gen_ai.request.seed": 7,
    "gen_ai.response.id": "r-1",
    "gen_ai.response.finish_reasons": ["tool_call"],
    "gen_ai.usage.input_tokens": 130,
    "gen_ai.usage.output_tokens": 5,
    "gen_ai.usage.cache_read.input_tokens": 100,
    "gen_ai.usage.cache_write.input_tokens": 20,
    "gen_ai.usage.reasoning.output_tokens": 2,
  });
  assertEquals(find(spans, "execute_tool weather").attributes, {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "weather",
    "gen_ai.tool.call.id": "call-1",
    "gen_ai.tool.type": "function",
    "gen_ai.tool.description": weather.description,
  });
  assertEquals(find(spans, "invoke_agent helper").attributes, {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude",
    "gen_ai.agent.name": "helper",
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 130,
    "gen_ai.usage.output_tokens": 5,
    "gen_ai.usage.cache_read.input_tokens": 100,
    "gen_ai.usage.cache_write.input_tokens": 20,
    "gen_ai.usage.reasoning.output_tokens": 2,
    "swink.run.id": "run-id",
  });
  const { INTERNAL, CLIENT } = api.SpanKind;
  assertEquals(spans.map(({ kind }) => kind), [CLIENT, INTERNAL, CLIENT, INTERNAL]);
});

Deno.test("telemetry(): spans have the time of the system after a computer has slept, before and during a run", async () => {
  const { now } = Date;
  let sleptMs = 3_600_000;
  Date.now = () => now() + sleptMs;
  const sleep = () => {
    sleptMs += 3_600_000;
    return Promise.resolve(textResult("Slept"));
  };
  try {
    const startedAt = Date.now();
    const spans = await traceRun({
      tools: [
        subAgentTool({ name: "explore", description: "Looks around.", readOnly: true }),
        { ...fakeTool({ name: "sleep", readOnly: true }), execute: sleep },
      ],
      streamFn: scriptedStream([
        reply([toolCall("explore", { prompt: "Look" })]),
        reply([toolCall("sleep")]),
        reply("Seen"),
        reply("Done"),
      ]),
    });
    const toHours = ([seconds]: api.HrTime) =>
      Math.round((seconds * 1_000 - startedAt) / 3_600_000);
    const hours = spans.map(({ name, startTime, endTime }) =>
      `${name}: ${toHours(startTime)} to ${toHours(endTime)}`
    );
    assertEquals(hours, [
      "chat claude: 0 to 0",
      "chat claude: 0 to 0",
      "execute_tool sleep: 0 to 1",
      "chat claude: 1 to 1",
      "invoke_agent explore: 0 to 1",
      "execute_tool explore: 0 to 1",
      "chat claude: 1 to 1",
      "invoke_agent: 0 to 1",
    ]);
  } finally {
    Date.now = now;
  }
});

Deno.test("telemetry(): the span of a run has the model that setModel() has set", async () => {
  using registered = register();
  const streamFn = scriptedStream([reply("It is sunny.")]);
  const agent = new Agent({ model: "anthropic/claude", streamFn });
  const { observe } = await telemetry({ api });
  observe(agent);
  agent.setModel("openai/gpt");
  await agent.prompt("Hello");
  const { "gen_ai.provider.name": provider, "gen_ai.request.model": model } =
    find(registered.spans, "invoke_agent").attributes;
  assertEquals([provider, model], ["openai", "gpt"]);
});

Deno.test("telemetry(): a model call with its retries is one span, a fallback model another one", async () => {
  const streamFn = scriptedStream([
    fail("network_error", "down"),
    fail("network_error", "down"),
    reply("Hello"),
  ]);
  const spans = await traceRun({
    streamFn,
    retry: ({ attempt }) => (attempt < 2 ? 0 : null),
    sleep: () => Promise.resolve(),
    fallback: [{ model: { provider: "openai", modelId: "gpt", thinkingLevel: "off" } }],
  });
  assertEquals(describeTree(spans), [
    "chat claude < invoke_agent",
    "chat gpt < invoke_agent",
    "invoke_agent",
  ]);
  const [failed, answered] = spans;
  assertEquals(failed?.attributes["error.type"], "network_error");
  assertEquals(failed?.status.code, api.SpanStatusCode.ERROR);
  assertEquals(failed?.events.map(({ name, attributes }) => [name, attributes]), [
    ["retry", {
      "swink.retry.attempt": 1,
      "swink.retry.delay_ms": 0,
      "error.type": "network_error",
    }],
  ]);
  assertEquals(answered?.attributes["error.type"], undefined);
  assertEquals(answered?.attributes["gen_ai.provider.name"], "openai");
  assertEquals(find(spans, "invoke_agent").events.map(({ name }) => name), ["model_fallback"]);
});

Deno.test("telemetry(): a failed tool and a failed run have the type of the error", async () => {
  const broken = fakeTool({ name: "broken", result: errorResult("no") });
  const streamFn = scriptedStream([
    reply([toolCall("broken"), toolCall("missing")]),
    fail("auth_error", "key"),
  ]);
  const spans = await traceRun({ streamFn, tools: [broken], retry: () => null });
  for (const name of ["execute_tool broken", "execute_tool _OTHER"]) {
    assertEquals(find(spans, name).attributes["error.type"], "tool_error");
  }
  const run = find(spans, "invoke_agent");
  assertEquals(run.attributes["error.type"], "auth_error");
  assertEquals(run.status.code, api.SpanStatusCode.ERROR);
});

Deno.test("telemetry(): an aborted run ends all of its spans", async () => {
  using registered = register();
  const slow = fakeTool({ name: "slow", delayMs: 60_000 });
  const agent = new Agent({
    model: "anthropic/claude",
    tools: [slow],
    streamFn: scriptedStream([reply([toolCall("slow")])]),
  });
  const { observe } = await telemetry({ api });
  observe(agent);
  agent.subscribe(({ type }) => void (type === "tool_execution_start" && agent.abort()));
  await agent.prompt("Hello");
  const spans = registered.spans;
  assertEquals(describeTree(spans), [
    "chat claude < invoke_agent",
    "execute_tool slow < invoke_agent",
    "invoke_agent",
  ]);
  assertEquals(find(spans, "invoke_agent").attributes["error.type"], "aborted");
  assertEquals(find(spans, "invoke_agent").attributes["gen_ai.response.finish_reasons"], ["error"]);
  assertEquals(find(spans, "execute_tool slow").attributes["error.type"], "aborted");
  const { resourceMetrics } = await registered.reader.collect();
  const metric = resourceMetrics.scopeMetrics[0]?.metrics.find(({ descriptor }) =>
    descriptor.name === "gen_ai.execute_tool.duration"
  );
  assertEquals(metric?.dataPoints.map(({ attributes }) => attributes["error.type"]), ["aborted"]);
});

Deno.test("telemetry(): a cancelled call has the code of the reason, also if its tool had not started", async () => {
  const slow = fakeTool({ name: "slow", delayMs: 60_000 });
  const timed = await traceRun({
    tools: [slow],
    toolTimeoutMs: 5,
    streamFn: scriptedStream([reply([toolCall("slow")]), reply("Done")]),
  });
  assertEquals(find(timed, "execute_tool slow").attributes["error.type"], "tool_timeout");

  using registered = register();
  const agent = new Agent({
    model: "anthropic/claude",
    tools: [slow],
    approve: () => {
      agent.abort();
      return { type: "approved" };
    },
    streamFn: scriptedStream([reply([toolCall("slow")])]),
  });
  const { observe } = await telemetry({ api });
  observe(agent);
  await agent.prompt("Hello");
  assertEquals(find(registered.spans, "execute_tool slow").attributes["error.type"], "aborted");
});

Deno.test("telemetry(): a reply that a filter has cut off, and one that is missing, have a reason of the conventions", async () => {
  const errors = [
    ["content_filtered", "content_filter"],
    ["bad_request", "error"],
  ] as const;
  for (const [code, reason] of errors) {
    const spans = await traceRun({ streamFn: scriptedStream([fail(code, "No")]) });
    for (const name of ["chat claude", "invoke_agent"]) {
      assertEquals(find(spans, name).attributes["gen_ai.response.finish_reasons"], [reason]);
    }
  }
});

Deno.test("telemetry(): spans of a tool and of the model function are children of its spans, also in parallel calls", async () => {
  const nested = (name: string) => trace.getTracer("test").startSpan(name).end();
  const scripted = scriptedStream([
    reply([toolCall("first"), toolCall("second")]),
    reply("Done"),
  ]);
  const tools = ["first", "second"].map((name) => ({
    ...fakeTool({ name }),
    execute: async () => {
      await Promise.resolve();
      nested(`in ${name}`);
      return "ok";
    },
  }));
  const spans = await traceRun({
    tools,
    streamFn: async function* (request) {
      await Promise.resolve();
      nested("fetch");
      yield* scripted(request);
    },
  });
  assertEquals(describeTree(spans).filter((path) => /^(in |fetch)/.test(path)), [
    "fetch < chat claude < invoke_agent",
    "in first < execute_tool first < invoke_agent",
    "in second < execute_tool second < invoke_agent",
    "fetch < chat claude < invoke_agent",
  ]);
});

Deno.test("telemetry(): agents that a tool runs are nested in its call and named after it", async () => {
  const streamFn = scriptedStream([
    reply([toolCall("explore", { prompt: "Look" }), toolCall("explore", { prompt: "Look" })]),
    reply([toolCall("look")]),
    reply([toolCall("look")]),
    reply("Seen"),
    reply("Seen"),
    reply("Done"),
  ]);
  const explore = subAgentTool({ name: "explore", description: "Looks around." });
  const look = fakeTool({ name: "look", readOnly: true });
  const spans = await traceRun({ streamFn, tools: [look, explore] });
  const tree = describeTree(spans);
  const below = "invoke_agent explore < execute_tool explore < invoke_agent";
  assertEquals(tree.filter((path) => path === `execute_tool look < ${below}`).length, 2);
  assertEquals(tree.filter((path) => path === `chat claude < ${below}`).length, 4);
  assertEquals(tree.at(-1), "invoke_agent");
});

Deno.test("telemetry(): an agent in the background is named after its tool, whose call has ended", async () => {
  const streamFn = scriptedStream([
    reply([toolCall("explore", { prompt: "Look", background: true })]),
    reply("Waiting"),
    reply("Seen"),
    reply("Done"),
  ]);
  const explore = subAgentTool({
    name: "explore",
    description: "Looks around.",
    background: true,
  });
  const spans = await traceRun({ streamFn, tools: [explore] });
  const { attributes } = find(spans, "invoke_agent explore");
  assertEquals(attributes["gen_ai.agent.name"], "explore");
  assertEquals(describeTree(spans).at(-1), "invoke_agent");
});

Deno.test("telemetry(): an agent stays observed after reset() until the observation ends", async () => {
  using registered = register();
  const streamFn = scriptedStream([reply("One"), reply("Two"), reply("Three")]);
  const agent = new Agent({ model: "anthropic/claude", streamFn });
  const { observe } = await telemetry({ api });
  const stop = observe(agent);
  const counts: number[] = [];
  const prompt = async () => {
    await agent.prompt("Hello");
    counts.push(registered.spans.length);
  };
  await prompt();
  agent.reset();
  assertThrows(() => observe(agent), BadRequestError, "already observed");
  await prompt();
  stop();
  await prompt();
  assertEquals(counts, [2, 4, 4]);
});

Deno.test("telemetry(): a tool gets the headers of the span of its call", async () => {
  let headers: Readonly<Record<string, string>> | undefined;
  const tool = {
    ...fakeTool({ name: "call" }),
    execute: (_args: unknown, { traceHeaders }: { traceHeaders?: typeof headers }) => {
      headers = traceHeaders;
      return Promise.resolve("ok");
    },
  };
  const streamFn = scriptedStream([reply([toolCall("call")]), reply("Done")]);
  const spans = await traceRun({ streamFn, tools: [tool] });
  const { traceId, spanId } = find(spans, "execute_tool call").spanContext();
  assertEquals(headers, { traceparent: `00-${traceId}-${spanId}-01` });
});

Deno.test("telemetry(): a tracer or meter that throws disturbs no run, and the spans that it has started end", async () => {
  const methods = ["setAttributes", "addEvent", "setStatus", "end", "record", "add", "inject"];
  for (const method of methods) {
    let started = 0;
    let ended = 0;
    const throwIf = (name: string) => {
      if (name === method) throw new Error(`${name} fails`);
    };
    const span = {
      setAttributes: () => throwIf("setAttributes"),
      addEvent: () => throwIf("addEvent"),
      setStatus: () => throwIf("setStatus"),
      end() {
        ended++;
        throwIf("end");
      },
    };
    const { observe } = await telemetry({
      api: {
        trace: {
          getTracer: () => ({ startSpan: () => (started++, span) }),
          setSpan: () => ({}),
        },
        metrics: {
          getMeter: () => ({
            createHistogram: () => ({ record: () => throwIf("record") }),
            createCounter: () => ({ add: () => throwIf("add") }),
          }),
        },
        context: { active: () => ({}), with: (_context, work) => work() },
        propagation: { inject: () => throwIf("inject") },
      },
    });
    const agent = new Agent({
      model: "anthropic/claude",
      streamFn: scriptedStream([
        fail("model_throttled", "Later"),
        reply([toolCall("look"), toolCall("unknown")]),
        fail("bad_request", "No"),
      ]),
      tools: [fakeTool({ name: "look" })],
      sleep: () => Promise.resolve(),
    });
    observe(agent);
    assertEquals((await agent.prompt("Hello")).error?.code, "bad_request", method);
    assertEquals([method, started, ended], [method, 5, 5]);
  }
});

Deno.test("telemetry(): observes an agent once, until the returned function is called", async () => {
  using registered = register();
  const streamFn = scriptedStream([reply("One"), reply("Two"), reply("Three")]);
  const agent = new Agent({ model: "openai/gpt", streamFn });
  const { observe } = await telemetry({ api });
  const stop = observe(agent);
  assertThrows(() => observe(agent), BadRequestError, "The agent is already observed");
  await agent.prompt("Hello");
  stop();
  await agent.prompt("Hello");
  assertEquals(registered.spans.length, 2);
  observe(agent);
  // The end of the first observation is not that of the second one.
  stop();
  assertThrows(() => observe(agent), BadRequestError, "The agent is already observed");
  await agent.prompt("Hello");
  assertEquals(registered.spans.length, 4);
});

Deno.test("telemetry(): does nothing without a registered provider", async () => {
  const agent = new Agent({ model: "openai/gpt", streamFn: scriptedStream([reply("Hello")]) });
  const { observe } = await telemetry();
  observe(agent);
  assertEquals((await agent.prompt("Hello")).text, "Hello");
});

Deno.test("telemetry(): refuses options that do not exist or have another type", async () => {
  const options = { contents: true } as TelemetryOptions;
  await assertRejects(() => telemetry(options), BadRequestError, "content");
  const wrong = { content: "yes" } as unknown as TelemetryOptions;
  await assertRejects(() => telemetry(wrong), BadRequestError, "content must be a boolean");
});

Deno.test("telemetry(): the event of a compaction has the tokens and the cost of its summary", async () => {
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
  const report = { droppedCount: 1, tokensBefore: 9, tokensAfter: 5 };
  const reports = [{ ...report, summary: "Hello", usage, cost }, report];
  const spans = await traceRun({
    streamFn: scriptedStream([reply([toolCall("weather")]), reply("Hi")]),
    tools: [weather],
    transformContext: (messages) => ({ messages, report: reports.shift() ?? report }),
  });
  const { events } = find(spans, "invoke_agent");
  assertEquals(events.map(({ name, attributes }) => [name, attributes]), [
    ["context_compacted", {
      "gen_ai.usage.input_tokens": 130,
      "gen_ai.usage.output_tokens": 5,
      "gen_ai.usage.cache_read.input_tokens": 100,
      "gen_ai.usage.cache_write.input_tokens": 20,
      "gen_ai.usage.reasoning.output_tokens": 2,
      "swink.cost.total": 3,
    }],
    ["context_compacted", {}],
  ]);
});
