import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { type AssistantMessage, userMessage } from "../../core/message.ts";
import { estimateTokens } from "../../core/tokens.ts";
import type { Usage } from "../../core/usage.ts";
import {
  assistantMessage,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { countContext } from "./context_count.ts";
import { contextGauge } from "./context_gauge.ts";
import { slidingWindow } from "./sliding_window.ts";

function createUsage(input: number, output: number, more: Partial<Usage> = {}): Usage {
  return { input, output, cacheRead: 0, cacheWrite: 0, total: input + output, ...more };
}

function createAnswer(usage: Usage, more: Partial<AssistantMessage> = {}): AssistantMessage {
  return assistantMessage("answer", { usage, ...more });
}

const question = userMessage("question", 0);
const request = { systemPrompt: "", tools: [] };

Deno.test("without a reply everything is estimated, tools and system prompt as well", () => {
  const tool = { name: "bash", description: "Runs a command.", parameters: { type: "object" } };
  const count = countContext({
    messages: [question],
    systemPrompt: "x".repeat(400),
    tools: [tool],
  });
  assertEquals(count, { used: 119, reported: 0, estimated: 119 });
});

Deno.test("what was sent counts as the provider told, what was added as estimated", () => {
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

Deno.test("reasoning that a provider never takes back is not counted", () => {
  const usage = createUsage(100, 500, { extra: { reasoning: 450 } });
  const told = (message: AssistantMessage) =>
    countContext({ ...request, messages: [message] }).reported;
  assertEquals(told(createAnswer(usage, { provider: "openai" })), 150);
  assertEquals(told(createAnswer(usage, { provider: "azure" })), 150);
  assertEquals(told(createAnswer(usage, { provider: "anthropic" })), 600);
  const kept = assistantMessage([thinking("hm", { signature: "s" }), text("a")], {
    usage,
    provider: "openai",
  });
  assertEquals(told(kept), 600);
});

Deno.test("a reply that was cut off counts as far as it came", () => {
  const cut = createAnswer(createUsage(100, 0), { stopReason: "aborted" });
  assertEquals(countContext({ ...request, messages: [cut] }).reported, 100 + estimateTokens(cut));
});

Deno.test("a prompt that failed attempts count in again is counted once", () => {
  const first = createAnswer(createUsage(10_000, 100));
  const retried = (times: number) => createAnswer(createUsage(10_110 * times, 100));
  for (const times of [1, 2, 3]) {
    const messages = [question, first, question, retried(times)];
    assertEquals(countContext({ ...request, messages }).reported, 10_210);
  }
  // A history that has really grown by half is believed.
  const grown = [question, first, question, createAnswer(createUsage(15_000, 100))];
  assertEquals(countContext({ ...request, messages: grown }).reported, 15_100);
});

Deno.test("replies to a longer request are not believed", () => {
  const messages = [question, createAnswer(createUsage(9000, 10)), question];
  const count = countContext({ ...request, messages }, { firstTrusted: 2 });
  assertEquals(count.reported, 0);
  assertEquals(count.used, messages.reduce((sum, message) => sum + estimateTokens(message), 0));
});

Deno.test("the gauge tells used, limit and percent of the agent's next request", async () => {
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

Deno.test("the gauge does not count what the agent's own transform leaves out", async () => {
  const transform = slidingWindow({ contextWindow: 2000, keepSteps: 1 });
  const replies = Array.from({ length: 6 }, () => reply("a".repeat(1000)));
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(replies),
    transformContext: transform,
  });
  for (let number = 0; number < 6; number++) await agent.prompt("q".repeat(1000));
  const whole = contextGauge(agent).used;
  const { used, percent } = contextGauge(agent, { contextWindow: 2000, transform });
  assertEquals(whole, 12 * 254);
  assertEquals(used, 4 * 254);
  assertEquals(Math.round(percent ?? 0), 51);
});
