import { assert, assertEquals } from "@std/assert";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { zeroUsage } from "../../src/core/models/usage.ts";
import type { AssistantMessageEvent, StreamFn } from "../../src/core/streams/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { startThreadTimer } from "../thread_time.ts";
import { outlineAllEvents, outlineEvents } from "./outline.ts";
import { settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

/** Creates a model that emits words without a pause and counts those that were pulled. */
function createWordStream(words: number): { streamFn: StreamFn; emitted: () => number } {
  let emitted = 0;
  const streamFn: StreamFn = async function* (): AsyncGenerator<AssistantMessageEvent> {
    yield { type: "start" };
    yield { type: "text_start", contentIndex: 0 };
    while (emitted < words) {
      emitted++;
      yield { type: "text_delta", contentIndex: 0, delta: "word " };
    }
    yield { type: "text_end", contentIndex: 0 };
    yield { type: "done", stopReason: "stop", usage: zeroUsage() };
  };
  return { streamFn, emitted: () => emitted };
}

/** More words than any test reads. The stream ends, so that a test fails without backpressure. */
const MANY_WORDS = 1_000_000;

function isReply(event: AgentEvent | undefined): boolean {
  return event?.type === "message_end" && event.message.role === "assistant";
}

async function readEvents(
  reader: ReadableStreamDefaultReader<AgentEvent>,
  count: number,
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  while (events.length < count) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The stream ended after ${events.length} of ${count} events`);
    events.push(value);
  }
  return events;
}

Deno.test("backpressure: the model is at most 256 events ahead of the reader [B58]", async () => {
  const { streamFn, emitted } = createWordStream(2000);
  const { agent } = testAgent([], { streamFn });
  const reader = agent.promptStream("Hi").getReader();
  await readEvents(reader, 6);
  await settle();
  assert(emitted() <= 257, `${emitted()} words ahead`);
  assert(emitted() >= 200, `only ${emitted()} words ahead`);
  await readEvents(reader, 500);
  await settle();
  assert(emitted() <= 500 + 257, `${emitted()} words, of which 500 were read`);
  await reader.cancel();
});

Deno.test("backpressure: an agent that is a tool waits for the reader of the calling agent", async () => {
  const { streamFn, emitted } = createWordStream(2000);
  const { agent: child } = testAgent([], { streamFn });
  const { agent } = testAgent([reply([toolCall("write", { prompt: "Go" })])], {
    tools: [child.asTool({ name: "write", description: "" })],
  });
  const reader = agent.promptStream("Hi").getReader();
  while ((await reader.read()).value?.type !== "sub_agent");
  await settle();
  await settle();
  assert(emitted() <= 2 * 257, `${emitted()} words ahead`);
  await reader.cancel();
});

Deno.test("model call: starts after the reader has taken every event, model_call_start included", async () => {
  const { agent, streamFn } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look" })],
  });
  const events: AgentEvent[] = [];
  const asked: number[] = [];
  for await (const event of agent.promptStream("Look")) {
    events.push(event);
    await settle();
    if (asked.length < streamFn.calls.length) asked.push(events.length);
  }
  const lines = outlineAllEvents(events);
  assertEquals(asked, [
    lines.indexOf("model_call_start 1") + 1,
    lines.lastIndexOf("model_call_start 1") + 1,
  ]);
});

Deno.test("tool calls: start after the reader has taken every tool_execution_start", async () => {
  const look = fakeTool({ name: "look" });
  const { agent } = testAgent([reply([toolCall("look"), toolCall("look")]), reply("Seen")], {
    tools: [look],
  });
  let taken = 0;
  for await (const { type } of agent.promptStream("Look")) {
    await settle();
    if (type === "tool_execution_start") assertEquals(look.calls.length, ++taken === 2 ? 2 : 0);
  }
  assertEquals(taken, 2);
});

Deno.test("approve: is called after the reader has taken tool_approval_requested", async () => {
  const asked: string[] = [];
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look" })],
    approve: ({ toolCallId }) => {
      asked.push(toolCallId);
      return true;
    },
  });
  const reader = agent.promptStream("Look").getReader();
  for (let [event] = await readEvents(reader, 1); !isReply(event);) {
    [event] = await readEvents(reader, 1);
  }
  await settle();
  assertEquals(asked, []);
  await readEvents(reader, 1);
  await settle();
  assertEquals(asked, ["call_1"]);
  reader.releaseLock();
});

Deno.test("promptStream(): an unread stream pauses the run and ends immediately on abort", async () => {
  const { agent, streamFn } = testAgent([reply("Hello")]);
  const stream = agent.promptStream("Hi");
  await settle();
  assertEquals([streamFn.calls.length, agent.state.isRunning], [0, true]);
  agent.abort();
  await agent.waitForIdle();
  assertEquals(agent.state.isRunning, false);
  assertEquals(outlineEvents(await checkEvents(stream)).slice(-2), [
    "turn_end aborted",
    "agent_end",
  ]);
});

Deno.test("abort() ends a run whose reader has stopped during a reply", async () => {
  const { streamFn } = createWordStream(MANY_WORDS);
  const { agent } = testAgent([], { streamFn });
  const stream = agent.promptStream("Hi");
  const reader = stream.getReader();
  await readEvents(reader, 5);
  await settle();
  agent.abort();
  await agent.waitForIdle();
  reader.releaseLock();
  const rest = await Array.fromAsync(stream);
  assertEquals(rest.at(-1)?.type, "agent_end");
});

Deno.test("prompt() reads all events without a reader of the caller", async () => {
  const { streamFn, emitted } = createWordStream(5000);
  const { agent } = testAgent([], { streamFn });
  await agent.prompt("Hi");
  assertEquals(emitted(), 5000);
});

Deno.test("prompt() reads 200,000 deltas in one burst within 10 s [B59]", async () => {
  const { streamFn } = createWordStream(200_000);
  const { agent } = testAgent([], { streamFn });
  const getThreadTime = startThreadTimer();
  await agent.prompt("Hi");
  const seconds = getThreadTime() / 1_000;
  // Quadratic work takes minutes; the bound allows for a busy machine.
  assert(seconds < 10, `${seconds} s`);
});

Deno.test("subscribe(): the model is at most one event ahead of a slow listener", async () => {
  const { streamFn, emitted } = createWordStream(50);
  const { agent } = testAgent([], { streamFn });
  const ahead: number[] = [];
  let delivered = 0;
  agent.subscribe(async ({ type }) => {
    if (type !== "message_update") return;
    await Promise.resolve();
    ahead.push(emitted() - ++delivered);
  });
  await agent.prompt("Hi");
  assertEquals(Math.max(...ahead) <= 1, true, `${Math.max(...ahead)} ahead`);
});

Deno.test("promptStream(): leaving the loop aborts the run, and the agent is idle afterwards [B57]", async () => {
  const { streamFn, emitted } = createWordStream(MANY_WORDS);
  const { agent } = testAgent([], { streamFn });
  for await (const { type } of agent.promptStream("Hi")) {
    if (type === "message_update") break;
  }
  assertEquals(agent.state.isRunning, false);
  const before = emitted();
  await settle();
  assertEquals(emitted(), before);
  assertEquals(agent.state.messages.length, 2);
});

Deno.test("promptStream(): cancelling before the first event keeps the prompt in the history [A75]", async () => {
  const { agent, streamFn } = testAgent([reply("Hello")]);
  await agent.promptStream("Hi").cancel();
  assertEquals([agent.state.isRunning, agent.state.messages.length], [false, 1]);
  await agent.prompt("Again");
  assertEquals(streamFn.calls[0]?.context.messages.length, 2);
  assertEquals(agent.state.messages.length, 3);
});

Deno.test("promptStream(): leaving the loop after the first turn keeps that turn in the history once [A76]", async () => {
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look" })],
  });
  for await (const { type } of agent.promptStream("Look")) {
    if (type === "turn_end") break;
  }
  assertEquals(agent.state.messages.map(({ role }) => role), ["user", "assistant", "tool_result"]);
});

Deno.test("promptStream() returns a ReadableStream that can be teed, piped and read alternately", async () => {
  const { agent } = testAgent([reply("One"), reply("Two"), reply("Three")]);
  const [left, right] = agent.promptStream("Hi").tee();
  const both = await Promise.all([checkEvents(left), checkEvents(right)]);
  assertEquals(both[0], both[1]);

  const types = agent.promptStream("Hi").pipeThrough(
    new TransformStream<AgentEvent, string>({
      transform: ({ type }, controller) => controller.enqueue(type),
    }),
  );
  assertEquals((await Array.fromAsync(types)).at(-1), "agent_end");

  const stream = agent.promptStream("Hi");
  const reader = stream.getReader();
  const first = await readEvents(reader, 2);
  reader.releaseLock();
  const rest = await Array.fromAsync(stream);
  await checkEvents([...first, ...rest]);
});

Deno.test("promptStream(): concurrent reads resolve in order", async () => {
  const { agent } = testAgent([reply("Hello")]);
  const iterator = agent.promptStream("Hi")[Symbol.asyncIterator]();
  const reads = await Promise.all(Array.from({ length: 12 }, () => iterator.next()));
  const events = reads.flatMap(({ done, value }) => done ? [] : [value]);
  assertEquals(events.map(({ seq }) => seq), events.map((_, index) => index + 1));
  assertEquals(reads.at(-1)?.done, true);
});
