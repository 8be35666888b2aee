import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { slidingWindow } from "./sliding_window.ts";
import { summarize } from "./summarize.ts";

const note: AgentMessage = { role: "custom", type: "note", data: {}, timestamp: 0 };

Deno.test("slidingWindow(): a cut does not apply to a shortened history whose latest step it would omit", async () => {
  const streamFn = scriptedStream(Array(10).fill(reply("ok")));
  const transform = slidingWindow({ contextWindow: 2_000, keepSteps: 0 });
  const agent = new Agent({ model: "p/m", streamFn, transformContext: transform });
  for (let number = 0; number < 9; number++) await agent.prompt(`${number} ${"x".repeat(1_000)}`);
  const shortened = agent.state.messages.slice(0, transform.cut?.to);
  assertEquals(shortened.at(-1)?.role, "user");
  agent.setMessages([...shortened, note]);
  await agent.continue();
  assertEquals<unknown>(streamFn.calls.at(-1)?.context.messages, shortened);
  agent.setMessages([...shortened, note, userMessage("next", 0)]);
  assertEquals(transform.view(agent.state.messages).messages.length, 3);
});

/** Creates an agent with a cut of a history, and replies that report the tokens of the requests with it. */
async function createCompacted(withIds: boolean) {
  const usage = { input: 700, output: 1, cacheRead: 0, cacheWrite: 0, total: 701 };
  const streamFn = scriptedStream(Array(9).fill(reply("ok", { usage })));
  const transform = slidingWindow({ contextWindow: 2_000, keepSteps: 1 });
  const messages = Array.from({ length: 20 }, (_, number): AgentMessage => ({
    ...userMessage(`${number} ${"x".repeat(1_000)}`, number),
    ...(withIds && { id: `m${number}` }),
  }));
  const agent = new Agent({ model: "p/m", streamFn, transformContext: transform, messages });
  await agent.prompt("one");
  await agent.prompt("two");
  return { agent, transform, streamFn };
}

for (const withIds of [true, false]) {
  Deno.test(`slidingWindow(): a cut stays when the host removes the first and the last omitted message, with ids: ${withIds}`, async () => {
    const { agent, transform, streamFn } = await createCompacted(withIds);
    const { from = 0, to = 0 } = transform.cut ?? {};
    const edited = agent.state.messages.toSpliced(to - 2, 2).toSpliced(from, 2);
    agent.setMessages(structuredClone(edited));
    const { length = 0 } = streamFn.calls[1]?.context.messages ?? [];
    const reports: unknown[] = [];
    agent.subscribe((event) => {
      if (event.type === "context_compacted") reports.push(event.report);
    });
    await agent.prompt("three");
    assertEquals([streamFn.calls[2]?.context.messages.length, reports], [length + 2, []]);
  });
}

for (const isNew of [false, true]) {
  Deno.test(`slidingWindow(): a cut stays when the host removes the last omitted message and those after it up to newer ones: ${isNew}`, async () => {
    const { agent, transform } = await createCompacted(true);
    const { to = 0, length = 0 } = transform.cut ?? {};
    const { messages } = agent.state;
    const sent = transform.view(messages).messages.length;
    const end = isNew ? length : to + 1;
    const edited = structuredClone(messages.toSpliced(to - 1, end - to + 1));
    assertEquals(transform.view(edited).messages.length, sent - end + to);
    const shortened = edited.slice(0, to - 2);
    assertEquals(transform.view(shortened).messages, shortened);
  });
}

Deno.test("slidingWindow(): replies to requests with a cut do not count after the host has replaced what it omits", async () => {
  const { agent, transform, streamFn } = await createCompacted(true);
  const { from = 0, to = 0 } = transform.cut ?? {};
  const { messages } = agent.state;
  const replaced = messages.map((message, position) =>
    position < from || position >= to ? message : { ...message, id: `other ${position}` }
  );
  agent.setMessages(replaced);
  await agent.prompt("three");
  assertEquals((streamFn.calls[2]?.context.messages.length ?? Infinity) < 10, true);
});

Deno.test("summarize(): a summary is not sent after the host has removed all messages from one of those on that it is about", async () => {
  const summaries = scriptedStream([reply("They moved to Rome.")]);
  const transform = summarize({ streamFn: summaries, contextWindow: 4_000, keepSteps: 2 });
  const streamFn = scriptedStream(Array(20).fill(reply("ok")));
  const agent = new Agent({ model: "p/m", streamFn, transformContext: transform });
  for (let number = 0; number < 16; number++) await agent.prompt(`${number} ${"x".repeat(1_000)}`);
  assertEquals(summaries.calls.length, 1);
  agent.setMessages(agent.state.messages.slice(0, 6));
  await agent.prompt("They stayed in Bern.");
  assertEquals(streamFn.calls.at(-1)?.context.messages.length, 7);
});

Deno.test("summarize(): the same after the host has added the same message to the end of each history", async () => {
  const transform = summarize({
    streamFn: scriptedStream([reply("They moved to Rome.")]),
    contextWindow: 4_000,
    keepSteps: 2,
  });
  const history = Array.from(
    { length: 16 },
    (_, number) => userMessage(`${number} ${"x".repeat(1_000)}`, 0),
  );
  const agent = new Agent({ model: "p/m", streamFn: scriptedStream([]) });
  const { signal } = new AbortController();
  const input = { ...agent.state, overflow: false, signal };
  const time = userMessage("It is noon.", 0);
  await transform([...history, time], input);
  const edited = [...history.slice(0, 6), time];
  assertEquals(transform.view(edited).messages, edited);
});

Deno.test("slidingWindow(): replies without ids that a cut keeps have answered a longer request", async () => {
  const transform = slidingWindow({ contextWindow: 2_000, keepSteps: 2 });
  const history = Array.from({ length: 12 }, (_, number): AgentMessage => ({
    ...userMessage(`${number} ${"x".repeat(1_000)}`, 0),
    id: `m${number}`,
  }));
  const agent = new Agent({ model: "p/m", streamFn: scriptedStream([]) });
  const input = { ...agent.state, overflow: false, signal: new AbortController().signal };
  const messages = [...history, assistantMessage("ok")];
  await transform(messages, input);
  const view = transform.view(messages);
  assertEquals([view.messages.length < messages.length, view.firstTrusted], [
    true,
    view.messages.length,
  ]);
});
