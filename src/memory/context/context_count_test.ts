import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { exponentialBackoff } from "../../core/hooks/retry.ts";
import { type AssistantMessage, userMessage } from "../../core/messages/message.ts";
import type { Usage } from "../../core/models/usage.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import {
  assistantMessage,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../../testing/messages.ts";
import { fail, reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { countContext } from "./context_count.ts";
import { contextGauge } from "./context_gauge.ts";
import { slidingWindow } from "./sliding_window.ts";

function createUsage(input: number, output: number, overrides: Partial<Usage> = {}): Usage {
  return { input, output, cacheRead: 0, cacheWrite: 0, total: input + output, ...overrides };
}

function createAnswer(usage: Usage, overrides: Partial<AssistantMessage> = {}): AssistantMessage {
  return assistantMessage("answer", { usage, ...overrides });
}

const question = userMessage("question", 0);
const request = { systemPrompt: "", tools: [] };

Deno.test("countContext() estimates the complete request if there is no reply", () => {
  const tool = { name: "bash", description: "Runs a command.", parameters: { type: "object" } };
  const count = countContext({
    messages: [question],
    systemPrompt: "x".repeat(400),
    tools: [tool],
  });
  assertEquals(count, { used: 119, reported: 0, estimated: 119 });
});

Deno.test("countContext() estimates replies of untyped code without usage", () => {
  for (const usage of [undefined, null]) {
    const answer = { ...createAnswer(createUsage(1, 1)), usage } as unknown as AssistantMessage;
    assertEquals(countContext({ ...request, messages: [question, answer] }).reported, 0);
  }
});

Deno.test("countContext() uses the reported usage, and estimates the messages after it", () => {
  const call = toolCall("bash", {}, { id: "c" });
  const usage = createUsage(1000, 50, { cacheRead: 300, cacheWrite: 200 });
  const messages = [
    question,
    assistantMessage([call], { usage }),
    toolResultMessage(call, "x".repeat(400)),
  ];
  assertEquals(countContext({ ...request, messages }), {
    used: 1654,
    reported: 1550,
    estimated: 104,
  });
});

Deno.test("countContext() estimates replies of untyped code that have no usage", () => {
  const { usage: _usage, ...answer } = createAnswer(createUsage(0, 0));
  const messages = [question, answer as AssistantMessage, question];
  const estimated = messages.reduce((sum, message) => sum + estimateTokens(message), 0);
  const count = countContext({ ...request, messages });
  assertEquals(count, { used: estimated, reported: 0, estimated });
});

Deno.test("countContext() omits the tokens of a compaction by the provider", () => {
  const extra = { compaction: 184_700 };
  const usage = createUsage(203_000, 4500, { cacheRead: 1000, cacheWrite: 200, extra });
  const messages = [question, createAnswer(usage)];
  assertEquals(countContext({ ...request, messages }).used, 24_000);
});

Deno.test("countContext() omits reasoning that is not sent back to the provider", () => {
  const usage = createUsage(100, 500, { extra: { reasoning: 450 } });
  const countReported = (message: AssistantMessage) =>
    countContext({ ...request, messages: [message] }).reported;
  assertEquals(countReported(createAnswer(usage, { provider: "openai" })), 150);
  assertEquals(countReported(createAnswer(usage, { provider: "azure" })), 150);
  assertEquals(countReported(createAnswer(usage, { provider: "anthropic" })), 600);
  const kept = assistantMessage([thinking("hm", { signature: "s" }), text("a")], {
    usage,
    provider: "openai",
  });
  assertEquals(countReported(kept), 600);
});

Deno.test("countContext() counts the partial content of an aborted reply", () => {
  const aborted = createAnswer(createUsage(100, 0), { stopReason: "aborted" });
  const { reported } = countContext({ ...request, messages: [aborted] });
  assertEquals(reported, 100 + estimateTokens(aborted));
});

Deno.test("countContext() counts the prompt of the last attempt of a reply", async () => {
  const failed = fail("network_error", "reset", { usage: createUsage(3_000, 40), after: "Hel" });
  const agent = new Agent({
    model: "p/m",
    retry: exponentialBackoff({ maxAttempts: 3, baseDelayMs: 0 }),
    streamFn: scriptedStream([failed, failed, reply("Hello", { usage: createUsage(3_000, 10) })]),
  });
  const { usage } = await agent.prompt("Hi");
  assertEquals([usage.total, usage.extra], [9_090, { discarded: 6_080 }]);
  assertEquals(contextGauge(agent).reported, 3_010);
});

Deno.test("countContext() counts no prompt of discarded attempts alone", () => {
  const usage = { ...createUsage(3_000, 40), extra: { discarded: 3_040 } };
  assertEquals(countContext({ ...request, messages: [createAnswer(usage)] }).reported, 0);
});

Deno.test("countContext() counts a history in full that has grown to a multiple", () => {
  const first = createAnswer(createUsage(10_000, 100));
  const messages = [question, first, question, createAnswer(createUsage(20_200, 100))];
  assertEquals(countContext({ ...request, messages }).reported, 20_300);
});

Deno.test("countContext() ignores replies before firstTrusted", () => {
  const messages = [question, createAnswer(createUsage(9000, 10)), question];
  const count = countContext({ ...request, messages }, { firstTrusted: 2 });
  assertEquals(count.reported, 0);
  assertEquals(count.used, messages.reduce((sum, message) => sum + estimateTokens(message), 0));
});

Deno.test("contextGauge() returns used, limit and percent of the agent's next request", async () => {
  const usage = createUsage(1900, 100);
  const streamFn = scriptedStream([reply("a", { usage })]);
  const agent = new Agent({ model: "p/m", streamFn });
  assertEquals(contextGauge(agent), {
    used: 0,
    reported: 0,
    estimated: 0,
    limit: undefined,
    percent: undefined,
  });
  await agent.prompt("question");
  const contextWindow = ({ modelId }: { modelId: string }) => modelId === "m" ? 8000 : undefined;
  assertEquals(contextGauge(agent, { contextWindow }), {
    used: 2000,
    reported: 2000,
    estimated: 0,
    limit: 8000,
    percent: 25,
  });
  agent.setModel("p/other");
  assertEquals(contextGauge(agent, { contextWindow }).limit, undefined);
});

Deno.test("contextGauge() does not count messages that the transform omits", async () => {
  const transform = slidingWindow({ contextWindow: 2000, keepSteps: 1 });
  const replies = Array.from({ length: 6 }, () => reply("a".repeat(1000)));
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(replies),
    transformContext: transform,
  });
  for (let number = 0; number < 6; number++) await agent.prompt("q".repeat(1000));
  const total = contextGauge(agent).used;
  const { used, percent } = contextGauge(agent, { contextWindow: 2000, transform });
  assertEquals(total, 12 * 254);
  assertEquals(used, 4 * 254);
  assertEquals(Math.round(percent ?? 0), 51);
});
