import { assertEquals, assertRejects } from "@std/assert";
import { createHistory, createSummarizer } from "../../../tests/memory/long_history.ts";
import { Agent } from "../../agent/agent.ts";
import type { TransformContext } from "../../core/context/context.ts";
import { AbortedError } from "../../core/errors/errors.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { compact } from "./compact.ts";
import { composeTransforms } from "./compose_transforms.ts";
import { slidingWindow } from "./sliding_window.ts";

const usage = { input: 70, output: 30, cacheRead: 0, cacheWrite: 0, total: 100 };

/** A history with a note after each message. */
const HISTORY = createHistory().flatMap((message, data): AgentMessage[] => [
  message,
  { role: "custom", type: "note", data, timestamp: 0 },
]);

/** Creates an agent with a transform that summarizes what other ones pass to it. */
function createComposed(...earlier: readonly TransformContext[]) {
  const summaries = scriptedStream([reply("sum", { usage })]);
  const transform = createSummarizer({ streamFn: summaries });
  const streamFn = scriptedStream([reply("ok")]);
  const totals: number[] = [];
  const agent = new Agent({
    model: "p/m",
    streamFn,
    transformContext: composeTransforms(...earlier, transform),
    messages: HISTORY,
    policies: [{ name: "totals", postCompaction: ({ usage }) => void totals.push(usage.total) }],
  });
  return { agent, transform, summaries, streamFn, totals };
}

Deno.test("compact() omits messages from those that earlier transforms pass, so that the next request has the cut", async () => {
  const { agent, transform, streamFn } = createComposed(
    (messages) => messages.filter(({ role }) => role !== "custom"),
  );
  const report = await compact(agent, transform, { tokens: 3_000 });
  await agent.prompt("next");
  assertEquals([report?.droppedCount, streamFn.calls[0]?.context.messages.length], [14, 7]);
});

Deno.test("compact() does not show the model what an earlier transform hides from it", async () => {
  const { agent, transform, summaries } = createComposed((messages) =>
    messages.map((message) => JSON.parse(JSON.stringify(message).replaceAll("question", "hidden")))
  );
  await compact(agent, transform, { tokens: 3_000 });
  const request = JSON.stringify(summaries.calls[0]?.context.messages);
  assertEquals([request.includes("question 1"), request.includes("hidden 1")], [false, true]);
});

Deno.test("compact() keeps the cut of a compacting transform before it", async () => {
  const window = slidingWindow({ contextWindow: 6_000, keepSteps: 1 });
  const { agent, transform } = createComposed(window);
  await agent.prompt("one");
  const { cut } = window;
  const report = await compact(agent, transform, { tokens: 1_500 });
  assertEquals([window.cut, report?.tokensBefore && report.tokensBefore < 6_000], [cut, true]);
});

Deno.test("compact() rejects when it is aborted while an earlier transform hangs", async () => {
  const controller = new AbortController();
  const { agent, transform } = createComposed(() => {
    controller.abort();
    return new Promise(() => {});
  });
  const options = { signal: controller.signal };
  await assertRejects(() => compact(agent, transform, options), AbortedError);
});

Deno.test("compact() counts what an earlier transform has spent in budgets", async () => {
  const { agent, transform, totals } = createComposed((messages) => ({
    messages,
    report: { droppedCount: 0, tokensBefore: 0, tokensAfter: 0, usage },
  }));
  await compact(agent, transform, { tokens: 3_000 });
  assertEquals(totals, [200]);
});
