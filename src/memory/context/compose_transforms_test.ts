import { assertEquals, assertObjectMatch, assertStrictEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import type { TransformContext } from "../../core/context/context.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { unknownCost } from "../../core/models/usage.ts";
import type { StreamFn } from "../../core/streams/stream.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { recordSession } from "../recording/record_session.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { composeTransforms } from "./compose_transforms.ts";
import { slidingWindow } from "./sliding_window.ts";
import { summarize } from "./summarize.ts";

const input: Parameters<TransformContext>[1] = {
  overflow: false,
  model: { provider: "p", modelId: "m", thinkingLevel: "off" },
  systemPrompt: "",
  tools: [],
  signal: new AbortController().signal,
};

function createDropTransform(count: number, report: Partial<CompactionReport>): TransformContext {
  return (messages) => ({
    messages: messages.slice(count),
    report: { droppedCount: count, tokensBefore: 10, tokensAfter: 5, ...report },
  });
}

Deno.test("composeTransforms() passes the messages of each transform to the next", async () => {
  const messages = [userMessage("a", 0), userMessage("b", 0), userMessage("c", 0)];
  assertStrictEquals(await composeTransforms()(messages, input), messages);
  const composed = composeTransforms(
    (passed) => passed.slice(1),
    (passed) => Promise.resolve({ messages: passed.slice(1) }),
  );
  assertEquals(await composed(messages, input), messages.slice(2));
});

Deno.test("composeTransforms() merges the reports of its transforms", async () => {
  const messages = [userMessage("a", 0), userMessage("b", 0), userMessage("c", 0)];
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
  const composed = composeTransforms(
    createDropTransform(1, { droppedMessages: messages.slice(0, 1), summary: "s", usage, cost }),
    createDropTransform(1, { tokensBefore: 5, tokensAfter: 2, usage, cost }),
  );
  assertEquals(await composed(messages, input), {
    messages: messages.slice(2),
    report: {
      droppedCount: 2,
      droppedMessages: messages.slice(0, 1),
      tokensBefore: 10,
      tokensAfter: 2,
      summary: "s",
      usage: { input: 2, output: 2, cacheRead: 0, cacheWrite: 0, total: 4 },
      cost: { input: 2, output: 4, cacheRead: 0, cacheWrite: 0, total: 6 },
    },
  });
});

Deno.test("composeTransforms(): a cost that one of the transforms does not know is unknown", async () => {
  const messages = [userMessage("a", 0), userMessage("b", 0), userMessage("c", 0)];
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
  const cases: readonly (readonly Partial<CompactionReport>[])[] = [
    [{ usage }, { usage, cost }],
    [{ usage, cost }, { usage }],
    [{}, { usage, cost }],
    [{ usage, cost }, {}],
  ];
  const costs = [];
  for (const [first = {}, second = {}] of cases) {
    const composed = composeTransforms(
      createDropTransform(1, first),
      createDropTransform(1, second),
    );
    const output = await composed(messages, input);
    costs.push("messages" in output && output.report?.cost);
  }
  assertEquals(costs, [unknownCost(), unknownCost(), cost, cost]);
});

Deno.test("composeTransforms(): a second window ignores the usage of longer requests", async () => {
  const usage = { input: 9000, output: 10, cacheRead: 0, cacheWrite: 0, total: 9010 };
  const messages: AgentMessage[] = [
    ...Array.from({ length: 20 }, (_, number) => userMessage(`${number}`, 0)),
    assistantMessage("a", { usage }),
    userMessage("q", 0),
  ];
  const first = slidingWindow({ contextWindow: 10_000 });
  const second = slidingWindow({ contextWindow: 10_000 });
  await composeTransforms(first, second)(messages, input);
  assertEquals([first.cut !== undefined, second.cut], [true, undefined]);
  // `firstTrusted` passes through transforms that return the same array, and out of a composition.
  const nested = composeTransforms(composeTransforms(first), (passed) => passed);
  const output = await composeTransforms(nested, second)(messages, input);
  assertEquals(second.cut, undefined);
  assertEquals("messages" in output && output.firstTrusted, first.view(messages).firstTrusted);
  const withoutCustom: TransformContext = (passed) =>
    passed.filter(({ role }) => role !== "custom");
  await composeTransforms(first, withoutCustom, second)(messages, input);
  assertEquals(second.cut, undefined);
});

Deno.test("composeTransforms(): a cut before a transform that fails is reported, recorded and counted with the next request", async () => {
  const usage = { input: 7, output: 3, cacheRead: 0, cacheWrite: 0, total: 10 };
  const summaries = scriptedStream([reply("s", { usage })]);
  let failures = 1;
  const unreliable: TransformContext = (messages) => {
    if (failures-- > 0) throw new Error("no network");
    return messages;
  };
  const window = summarize({ streamFn: summaries, contextWindow: 1_000, keepSteps: 1 });
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok")]),
    // Also within another composition.
    transformContext: composeTransforms(composeTransforms(window), unreliable),
    messages: Array.from({ length: 20 }, (_, number) => userMessage("u".repeat(400), number)),
  });
  const store = new InMemorySessionStore();
  const recording = await recordSession(agent, store, { id: "s" });
  assertEquals((await agent.prompt("one")).error?.code, "stream_error");
  const result = await agent.prompt("two");
  assertEquals([result.error, result.usage.total >= 10], [undefined, true]);
  const [entry, ...others] = await recording.session.path({ types: ["compaction"] });
  assertEquals(others, []);
  assertObjectMatch(entry ?? {}, { type: "compaction", summary: "s", usage });
  await recording.stop();
});

Deno.test("composeTransforms(): after an overflow only the first cut takes the request for a rejected one", async () => {
  const messages = [
    userMessage("q".repeat(4_000), 0),
    ...Array.from(
      { length: 10 },
      () => [assistantMessage("a".repeat(200)), userMessage("q".repeat(200), 0)],
    ).flat(),
    assistantMessage("ok"),
    userMessage("q".repeat(1_200), 0),
  ];
  const options = { contextWindow: 4_000 };
  const overflowing = { ...input, overflow: true };
  const single = await slidingWindow(options)(messages, overflowing);
  const composed = composeTransforms(slidingWindow(options), slidingWindow(options));
  const output = await composed(messages, overflowing);
  assertEquals("messages" in output && output.messages, "messages" in single && single.messages);
});

Deno.test("composeTransforms(): tokens after a cut are counted by the provider though a transform adds the time to each request", async () => {
  const sizes: number[] = [];
  const streamFn: StreamFn = (request) => {
    const { messages } = request.context;
    const input = 1.5 * messages.reduce((sum, message) => sum + estimateTokens(message), 0);
    sizes.push(input);
    const usage = { input, output: 2, cacheRead: 0, cacheWrite: 0, total: input + 2 };
    return scriptedStream([reply("ok", { usage })])(request);
  };
  const transformContext = composeTransforms(
    (messages) => [...messages, userMessage(`The time is ${sizes.length}`, 0)],
    slidingWindow({ contextWindow: 10_000 }),
  );
  const agent = new Agent({ model: "p/m", streamFn, transformContext });
  for (let number = 0; number < 40; number++) await agent.prompt("x".repeat(1_000));
  assertEquals(sizes.filter((size) => size > 9_000), []);
});
