/**
 * Runs with each adapter against aimock, an independent server that imitates the providers.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { serveProxy } from "../../adapters/proxy/mod.ts";
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  type AgentResult,
  extractText,
  type StreamFn,
} from "../../mod.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { type FakeTool, fakeTool } from "../../src/testing/fake_tool.ts";
import { eventsOfType } from "../conformance/outline.ts";
import { InstantClock } from "../conformance/ports.ts";
import { Aimock, type AimockFixture, startAimock } from "./aimock_server.ts";
import { serveLoopback } from "./loopback.ts";
import { NINE_PROVIDERS, type ProviderSubject } from "./nine_providers.ts";

const aimock = await startAimock();
const server = aimock ?? new Aimock("");

const CITY = JSON.stringify({ city: "Zürich" });
const ANSWER = "It is 21 °C in Zürich 🌤 and rising.";

const TOOL_LOOP: readonly AimockFixture[] = [
  {
    match: { userMessage: "weather", hasToolResult: false },
    response: {
      content: "Let me check.",
      toolCalls: [
        { id: "call_w1", name: "get_weather", arguments: CITY },
        { id: "call_w2", name: "get_time", arguments: "{}" },
      ],
      usage: { prompt_tokens: 111, completion_tokens: 22, total_tokens: 133 },
    },
  },
  {
    match: { userMessage: "weather", hasToolResult: true },
    response: {
      content: ANSWER,
      usage: { prompt_tokens: 150, completion_tokens: 12, total_tokens: 162 },
    },
  },
];

/** aimock sends no usage for Ollama, and for Mistral only with `stream_options`, which Mistral rejects. */
const WITHOUT_USAGE = ["ollama", "mistral"];
/** aimock supports reasoning for these providers. */
const WITH_THINKING = ["anthropic", "openai responses", "google", "bedrock"];
/** aimock sends only one finish reason for Ollama. */
const WITHOUT_FINISH_REASONS = ["ollama"];

function createErrorFixture(
  status: number,
  error: AimockFixture["response"]["error"],
): AimockFixture {
  return { match: { userMessage: "weather" }, response: { status, ...(error && { error }) } };
}

interface RunRecord {
  readonly agent: Agent;
  readonly events: readonly AgentEvent[];
  readonly result: Pick<AgentResult, "stopReason" | "usage" | "error">;
  readonly weather: FakeTool;
  readonly clock: InstantClock;
  readonly requests: number;
}

/** Runs an agent with two tools against a server with the given fixtures. */
async function runAgent(
  subject: ProviderSubject,
  fixtures: readonly AimockFixture[],
  options: Partial<AgentOptions> = {},
): Promise<RunRecord> {
  await server.setFixtures(fixtures);
  const weather = fakeTool({ name: "get_weather", result: "21 degrees" });
  const clock = new InstantClock();
  const agent = new Agent({
    model: subject.model,
    streamFn: subject.createStreamFn({ url: server.url }),
    tools: [weather, fakeTool({ name: "get_time", result: "noon" })],
    now: clock.now,
    sleep: clock.sleep,
    prices: {},
    // aimock parses every entry of Bedrock's tools as a tool, including a cache point.
    ...(subject.name === "bedrock" && { streamOptions: { cache: "off" } }),
    ...options,
  });
  const events = await checkEvents(agent.promptStream("What is the weather?"));
  const [end] = eventsOfType(events, "agent_end");
  assert(end);
  return { agent, events, result: end, weather, clock, requests: await server.requestCount() };
}

function getLastText({ agent }: RunRecord): string {
  const last = agent.state.messages.at(-1);
  return last && last.role !== "custom" ? extractText(last.content) : "";
}

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name: `aimock: ${name}`, ignore: aimock === undefined, fn });
}

for (const subject of NINE_PROVIDERS.filter(({ name }) => name !== "proxy")) {
  const { name } = subject;

  test(`${name} completes a tool loop`, async () => {
    const loop = await runAgent(subject, TOOL_LOOP);
    assertEquals(loop.result.error, undefined);
    assertEquals(loop.result.stopReason, "stop");
    assertEquals(getLastText(loop), ANSWER);
    assertEquals(loop.weather.calls.map(({ arguments: args }) => args), [{ city: "Zürich" }]);
    const roles = loop.agent.state.messages.map(({ role }) => role);
    assertEquals(roles, ["user", "assistant", "tool_result", "tool_result", "assistant"]);
    assertEquals(loop.requests, 2);
    if (WITHOUT_USAGE.includes(name)) return;
    assertEquals(loop.result.usage.input, 261);
    assertEquals(loop.result.usage.output, 34);
  });

  test(`${name} retries after 429 with the delay of the server`, async () => {
    const flaky = await runAgent(subject, [
      {
        match: { userMessage: "weather", sequenceIndex: 0 },
        response: {
          status: 429,
          retryAfter: 7,
          error: { message: "Slow down", type: "rate_limit_error" },
        },
      },
      { match: { userMessage: "weather" }, response: { content: "It is sunny." } },
    ]);
    assertEquals(getLastText(flaky), "It is sunny.");
    const [retry] = eventsOfType(flaky.events, "retry");
    assertEquals(retry?.error.code, "model_throttled");
    assertEquals(flaky.clock.waits, [7000]);
  });

  test(`${name} fails after three responses with 500`, async () => {
    const failing = await runAgent(subject, [
      createErrorFixture(500, { message: "boom", type: "server_error" }),
    ]);
    assertEquals(failing.result.error?.code, "network_error");
    assertEquals(failing.result.error?.status, 500);
    assertEquals(failing.requests, 3);
  });

  test(`${name} does not retry after 401`, async () => {
    const error = { message: "invalid x-api-key", type: "authentication_error" };
    const rejected = await runAgent(subject, [createErrorFixture(401, error)]);
    assertEquals(rejected.result.error?.code, "auth_error");
    assertEquals(rejected.requests, 1);
  });

  test(`${name} reports an overflow after transformContext removed nothing`, async () => {
    const overflows: boolean[] = [];
    const error = {
      message: "prompt is too long: 210510 tokens > 200000 maximum",
      type: "invalid_request_error",
      code: "context_length_exceeded",
    };
    const overflow = await runAgent(subject, [createErrorFixture(400, error)], {
      transformContext: (messages, { overflow }) => {
        overflows.push(overflow);
        return messages;
      },
    });
    assertEquals(overflow.result.error?.code, "context_window_overflow");
    assertEquals(overflows, [false, true]);
    assertEquals(overflow.requests, 1);
  });

  test(`${name} retries after a lost connection and keeps the text of the last attempt`, async () => {
    const content = "This reply is truncated after a few chunks, and the second one is as well.";
    const truncated = await runAgent(subject, [{
      match: { userMessage: "weather" },
      response: { content },
      latency: 5,
      chunkSize: 4,
      truncateAfterChunks: 12,
    }]);
    assertEquals(truncated.result.error?.code, "network_error");
    assertEquals(eventsOfType(truncated.events, "retry").length, 2);
    assert(content.startsWith(getLastText(truncated)), getLastText(truncated));
  });

  test(`${name} fails after a malformed response`, async () => {
    const malformed = await runAgent(subject, [{
      match: { userMessage: "weather" },
      response: { content: "never" },
      chaos: { malformedRate: 1 },
    }]);
    assert(malformed.result.error);
    assertEquals(malformed.result.stopReason, "error");
  });

  if (!WITHOUT_FINISH_REASONS.includes(name)) {
    test(`${name} distinguishes a truncated reply from a filtered one`, async () => {
      const runUntil = (finishReason: string) =>
        runAgent(subject, [{
          match: { userMessage: "weather" },
          response: { content: "Half a", finishReason },
        }]);
      assertEquals((await runUntil("length")).result.stopReason, "length");
      const filtered = await runUntil("content_filter");
      // aimock's Responses API sends a failed response without a reason.
      const code = name === "openai responses" ? "stream_error" : "content_filtered";
      assertEquals(filtered.result.error?.code, code);
    });
  }

  if (WITH_THINKING.includes(name)) {
    test(`${name} emits thinking before the text`, async () => {
      const thinking = await runAgent(subject, [{
        match: { userMessage: "weather" },
        response: { content: ANSWER, reasoning: "Step by step.", reasoningSignature: "sig-abc" },
      }]);
      const deltas = eventsOfType(thinking.events, "message_update").map(({ delta }) => delta)
        .filter(({ type }) => type === "thinking_delta")
        .map((delta) => "delta" in delta ? delta.delta : "");
      assertStringIncludes(deltas.join(""), "Step by step.");
      assertEquals(getLastText(thinking), ANSWER);
    });
  }
}

test("createProxy() completes a tool loop through serveProxy()", async () => {
  const [anthropic] = NINE_PROVIDERS;
  const proxy = NINE_PROVIDERS.find(({ name }) => name === "proxy");
  assert(anthropic && proxy);
  await server.setFixtures(TOOL_LOOP);
  const upstream = anthropic.createStreamFn({ url: server.url });
  await using proxyServer = serveLoopback(
    serveProxy(upstream, { authorize: (token) => token === "sk-test" }),
  );
  const agent = new Agent({
    model: anthropic.model,
    streamFn: proxy.createStreamFn({ url: proxyServer.url }),
    tools: [fakeTool({ name: "get_weather", result: "21" }), fakeTool({ name: "get_time" })],
    prices: {},
  });
  const { error, messages } = await agent.prompt("What is the weather?");
  assertEquals(error, undefined);
  const last = messages.at(-1);
  assertEquals(last && last.role !== "custom" && extractText(last.content), ANSWER);
});

test("one conversation continues with each provider in turn", async () => {
  await server.setFixtures([
    {
      match: { userMessage: "weather", hasToolResult: false },
      response: {
        content: "Let me check.",
        reasoning: "I need a tool.",
        toolCalls: [{ id: "call_w1", name: "get_weather", arguments: CITY }],
      },
    },
    { match: { userMessage: "weather", hasToolResult: true }, response: { content: ANSWER } },
  ]);
  const sent: { name: string; problems: string[] }[] = [];
  const agent = new Agent({
    model: "anthropic/claude-sonnet-4-5",
    streamFn: (request) => streamFn(request),
    tools: [fakeTool({ name: "get_weather", result: "21 degrees" })],
    streamOptions: { cache: "off" },
    prices: {},
  });
  let streamFn: StreamFn = () => ReadableStream.from([]);
  // The second round is without thinking: aimock requires thinking at the start of every tool loop, Anthropic only of the
  // last.
  const withoutThinking = NINE_PROVIDERS.map((subject) => ({
    ...subject,
    model: { ...subject.model, thinkingLevel: "off" as const },
  }));
  for (const subject of [...NINE_PROVIDERS, ...withoutThinking]) {
    if (subject.name === "proxy") continue;
    streamFn = subject.createStreamFn({
      url: server.url,
      fetch: (url, init) => {
        const problems = subject.findProblems(JSON.parse(String(init?.body)));
        sent.push({ name: subject.name, problems });
        return fetch(url, init);
      },
    });
    agent.setModel(subject.model);
    const { error } = await agent.prompt("And what is the weather now?");
    assertEquals(error, undefined, subject.name);
  }
  assertEquals(sent.length, 36);
  assertEquals(sent.filter(({ problems }) => problems.length > 0), []);
});
