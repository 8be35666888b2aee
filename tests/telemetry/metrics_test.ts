/**
 * The metrics of runs.
 *
 * @module
 */

import * as api from "@opentelemetry/api";
import type { MetricData } from "@opentelemetry/sdk-metrics";
import { assert, assertEquals } from "@std/assert";
import { Agent, type AssistantMessageEvent, NetworkError } from "../../mod.ts";
import { InMemorySessionStore, openSession } from "../../src/memory/mod.ts";
import { telemetry } from "../../src/telemetry/mod.ts";
import { fail, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { register, usage, weather } from "./test_tracing.ts";

/** Returns the metrics of a run of three model calls: with a tool call, with text, and one that fails. */
async function recordMetrics(): Promise<readonly MetricData[]> {
  using registered = register();
  const agent = new Agent({
    model: "openai/gpt",
    tools: [weather],
    retry: () => null,
    streamFn: scriptedStream([
      reply([toolCall("weather")], { usage }),
      reply("Sunny"),
      fail("bad_request", "No"),
    ]),
  });
  const { observe } = await telemetry({ api, agentName: "helper" });
  observe(agent);
  for (let run = 0; run < 2; run++) {
    await using _session = await openSession(new InMemorySessionStore(), {}, agent);
    await agent.prompt("Hello");
    agent.reset();
  }
  const { resourceMetrics } = await registered.reader.collect();
  return resourceMetrics.scopeMetrics[0]?.metrics ?? [];
}

Deno.test("telemetry(): records durations, tokens, numbers of calls and the time to the first content", async () => {
  const metrics = await recordMetrics();
  const points = Object.fromEntries(
    metrics.map((metric) => [metric.descriptor.name, listPoints(metric)]),
  );
  const model = { "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt" };
  const chat = { "gen_ai.operation.name": "chat", ...model };
  const failed = { ...chat, "error.type": "bad_request" };
  const tokens = { ...chat, "gen_ai.token.modality": "unknown" };
  const run = { "gen_ai.operation.name": "invoke_agent", ...model, "gen_ai.agent.name": "helper" };
  const tool = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "weather",
    "gen_ai.tool.type": "function",
  };
  assertEquals(points, {
    "gen_ai.client.inference.duration": [["s", 2, chat], ["s", 1, failed]],
    "gen_ai.client.inference.time_to_first_chunk": [["s", 2, chat]],
    "gen_ai.client.inference.operation.input_tokens": [["{token}", 2, chat]],
    "gen_ai.client.inference.operation.output_tokens": [["{token}", 2, chat]],
    "gen_ai.client.inference.usage.input_tokens": [["{token}", 130, tokens]],
    "gen_ai.client.inference.usage.output_tokens": [["{token}", 5, tokens]],
    "gen_ai.client.inference.usage.cache_read.input_tokens": [["{token}", 100, tokens]],
    "gen_ai.client.inference.usage.cache_write.input_tokens": [["{token}", 20, tokens]],
    "gen_ai.client.inference.usage.reasoning.output_tokens": [["{token}", 2, tokens]],
    "gen_ai.execute_tool.duration": [["s", 1, tool]],
    "gen_ai.invoke_agent.duration": [["s", 1, run], ["s", 1, {
      ...run,
      "error.type": "bad_request",
    }]],
    "gen_ai.invoke_agent.inference_calls": [["{inference_call}", 2, run]],
    "gen_ai.invoke_agent.tool_calls": [["{tool_call}", 2, run]],
  });
});

Deno.test("telemetry(): numbers of calls are those of each run, and the boundaries those of the conventions", async () => {
  const metrics = await recordMetrics();
  const read = (name: string) => {
    const value = metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints[0]?.value;
    assert(typeof value === "object" && "buckets" in value);
    return value;
  };
  assertEquals(read("gen_ai.invoke_agent.inference_calls").sum, 3);
  assertEquals(read("gen_ai.invoke_agent.tool_calls").sum, 1);
  const boundaries = (name: string) => read(name).buckets.boundaries;
  const seconds = [
    ...[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64],
    ...[1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  ];
  for (const name of ["client.inference.duration", "execute_tool.duration"]) {
    assertEquals(boundaries(`gen_ai.${name}`), seconds);
  }
  assertEquals(
    boundaries("gen_ai.invoke_agent.duration"),
    [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6],
  );
  assertEquals(boundaries("gen_ai.invoke_agent.tool_calls"), [1, 2, 4, 8, 16, 32, 64, 128]);
  assertEquals(
    boundaries("gen_ai.client.inference.operation.input_tokens").slice(0, 4),
    [1, 4, 16, 64],
  );
});

/** Returns unit, number of values or sum of a counter, and attributes of each series. */
function listPoints({ descriptor, dataPoints }: MetricData): unknown[] {
  return dataPoints.map(({ value, attributes }) => {
    const count = typeof value === "object" && "count" in value ? value.count : value;
    return [descriptor.unit, count, attributes];
  });
}

Deno.test("telemetry(): the tokens of a model call are those of all of its attempts", async () => {
  using registered = register();
  const replies = scriptedStream([reply("Sunny", { usage })]);
  const attempts = [async function* (): AsyncGenerator<AssistantMessageEvent> {
    yield { type: "start" };
    yield { type: "error", stopReason: "error", error: new NetworkError("cut off"), usage };
  }];
  const agent = new Agent({
    model: "openai/gpt",
    streamFn: (request) => attempts.shift()?.() ?? replies(request),
    retry: () => 0,
    sleep: () => Promise.resolve(),
  });
  const { observe } = await telemetry({ api });
  observe(agent);
  const result = await agent.prompt("Hello");
  const name = "gen_ai.usage.output_tokens";
  const output = registered.spans.map(({ attributes }) => attributes[name]);
  assertEquals(output, [2 * usage.output, 2 * usage.output]);
  assertEquals(result.usage.output, 2 * usage.output);
  const { resourceMetrics } = await registered.reader.collect();
  const counter = resourceMetrics.scopeMetrics[0]?.metrics.find(({ descriptor }) =>
    descriptor.name === "gen_ai.client.inference.usage.output_tokens"
  );
  assertEquals(counter?.dataPoints.map(({ value }) => value), [2 * usage.output]);
});
