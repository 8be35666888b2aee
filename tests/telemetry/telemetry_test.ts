import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { MeterProvider, type MetricData, MetricReader } from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  type ReadableSpan,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Agent, type AgentOptions, BadRequestError, errorResult } from "../../mod.ts";
import { fail, fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { telemetry, type TelemetryOptions } from "../../src/telemetry/mod.ts";

const { context, propagation, trace } = api;

/** Reads metrics when the test asks for them. */
class TestReader extends MetricReader {
  protected override onShutdown = () => Promise.resolve();
  protected override onForceFlush = () => Promise.resolve();
}

/** Collects spans, without the timers of an exporter. */
class TestProcessor implements SpanProcessor {
  readonly spans: ReadableSpan[] = [];
  onStart = () => {};
  onEnd = (span: ReadableSpan) => void this.spans.push(span);
  forceFlush = () => Promise.resolve();
  shutdown = () => Promise.resolve();
}

/** Registers what a program registers, and removes it at the end of the test. */
function register(): Disposable & { spans: readonly ReadableSpan[]; reader: TestReader } {
  const processor = new TestProcessor();
  const reader = new TestReader();
  const spanProcessors = [processor];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  api.metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator({
    inject: (of, carrier, setter) => {
      const { traceId, spanId } = trace.getSpanContext(of) ?? { traceId: "", spanId: "" };
      setter.set(carrier, "traceparent", `00-${traceId}-${spanId}-01`);
    },
    extract: (of) => of,
    fields: () => ["traceparent"],
  });
  const dispose = () => {
    trace.disable();
    api.metrics.disable();
    context.disable();
    propagation.disable();
  };
  return { spans: processor.spans, reader, [Symbol.dispose]: dispose };
}

/** Runs an observed agent; returns its spans in the order of their end. */
async function traceRun(
  options: Omit<AgentOptions, "model">,
  settings: TelemetryOptions = {},
): Promise<readonly ReadableSpan[]> {
  using registered = register();
  const agent = new Agent({ model: "anthropic/claude", ...options });
  const { observe } = await telemetry({ api, ...settings });
  observe(agent);
  await agent.prompt("Hello");
  return registered.spans;
}

/** Returns `name < parent < …` of each span. */
function describeTree(spans: readonly ReadableSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const toPath = (span: ReadableSpan): string => {
    const parent = byId.get(span.parentSpanContext?.spanId ?? "");
    return parent ? `${span.name} < ${toPath(parent)}` : span.name;
  };
  return spans.map(toPath);
}

function find(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const span = spans.find((span) => span.name === name);
  assert(span, `No span "${name}" among ${spans.map(({ name }) => name)}`);
  return span;
}

const usage = {
  input: 10,
  output: 5,
  cacheRead: 100,
  cacheWrite: 20,
  total: 135,
  extra: { reasoning: 2 },
};
const weather = fakeTool({ name: "weather", result: "Sunny" });

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
    "gen_ai.response.finish_reasons": ["tool_use"],
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

Deno.test("telemetry(): omits the content unless it is requested", async () => {
  const secret = "canary";
  const streamFn = () =>
    scriptedStream([reply([toolCall("weather", { city: secret })]), reply(secret)]);
  const run = {
    systemPrompt: secret,
    tools: [{ ...weather, parameters: { type: "object" as const } }],
  };
  const spans = await traceRun({ ...run, streamFn: streamFn() });
  assert(
    !JSON.stringify(spans.map(({ attributes, events }) => [attributes, events])).includes(secret),
  );

  const complete = await traceRun({ ...run, streamFn: streamFn() }, { content: true });
  const chat = complete.findLast(({ name }) => name === "chat claude");
  const read = (name: string) => JSON.parse(String(chat?.attributes[name]));
  assertEquals(read("gen_ai.system_instructions"), [{ type: "text", content: secret }]);
  const [user, assistant, tool] = read("gen_ai.input.messages");
  assertEquals(user, { role: "user", parts: [{ type: "text", content: "Hello" }] });
  assertEquals(assistant.finish_reason, "tool_call");
  assertEquals(assistant.parts[0].arguments, { city: secret });
  assertEquals(tool.parts[0].response, [{ type: "text", content: "Sunny" }]);
  assertEquals(read("gen_ai.output.messages"), [
    { role: "assistant", parts: [{ type: "text", content: secret }], finish_reason: "stop" },
  ]);
  assertEquals(read("gen_ai.tool.definitions")[0].name, "weather");
  const call = find(complete, "execute_tool weather").attributes;
  assertEquals(call["gen_ai.tool.call.arguments"], JSON.stringify({ city: secret }));
  assertEquals(call["gen_ai.tool.call.result"], '[{"type":"text","text":"Sunny"}]');
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
  for (const name of ["execute_tool broken", "execute_tool missing"]) {
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

Deno.test("telemetry(): records durations, tokens and the time to the first content", async () => {
  using registered = register();
  const streamFn = scriptedStream([reply([toolCall("weather")], { usage }), reply("Sunny")]);
  const agent = new Agent({ model: "openai/gpt", tools: [weather], streamFn });
  const { observe } = await telemetry({ api });
  observe(agent);
  await agent.prompt("Hello");
  const { resourceMetrics } = await registered.reader.collect();
  const [scope] = resourceMetrics.scopeMetrics;
  const points = Object.fromEntries((scope?.metrics ?? []).map((metric) => [
    metric.descriptor.name,
    listPoints(metric),
  ]));
  const model = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt",
  };
  assertEquals(points, {
    "gen_ai.client.inference.duration": [["s", 2, model]],
    "gen_ai.client.inference.time_to_first_chunk": [["s", 2, model]],
    "gen_ai.client.inference.operation.input_tokens": [["{token}", 1, model]],
    "gen_ai.client.inference.operation.output_tokens": [["{token}", 1, model]],
    "gen_ai.execute_tool.duration": [["s", 1, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "weather",
      "gen_ai.tool.type": "function",
    }]],
    "gen_ai.invoke_agent.duration": [["s", 1, {
      ...model,
      "gen_ai.operation.name": "invoke_agent",
    }]],
  });
});

/** Returns unit, number of values and attributes of each series. */
function listPoints({ descriptor, dataPoints }: MetricData): unknown[] {
  return dataPoints.map(({ value, attributes }) => {
    const count = typeof value === "object" && "count" in value ? value.count : undefined;
    return [descriptor.unit, count, attributes];
  });
}

Deno.test("telemetry(): a tracer or meter that throws disturbs no run, and the spans that it has started end", async () => {
  const methods = ["setAttributes", "addEvent", "setStatus", "end", "record", "inject"];
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
          getMeter: () => ({ createHistogram: () => ({ record: () => throwIf("record") }) }),
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
  const streamFn = scriptedStream([reply("One"), reply("Two")]);
  const agent = new Agent({ model: "openai/gpt", streamFn });
  const { observe } = await telemetry({ api });
  const stop = observe(agent);
  assertThrows(() => observe(agent), BadRequestError, "The agent is already observed");
  await agent.prompt("Hello");
  stop();
  await agent.prompt("Hello");
  assertEquals(registered.spans.length, 2);
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
