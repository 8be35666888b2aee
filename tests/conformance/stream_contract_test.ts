import { assertEquals } from "@std/assert";
import { StreamError } from "../../src/core/errors/errors.ts";
import { zeroUsage } from "../../src/core/models/usage.ts";
import type {
  AssistantMessageEvent,
  StreamFn,
  StreamRequest,
} from "../../src/core/streams/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { outlineEvents, outlineMessages } from "./outline.ts";
import { InstantClock, scriptedPorts, settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const done: AssistantMessageEvent = { type: "done", stopReason: "stop", usage: zeroUsage() };
const start: AssistantMessageEvent = { type: "start" };
const textStart: AssistantMessageEvent = { type: "text_start", contentIndex: 0 };
const textEnd: AssistantMessageEvent = { type: "text_end", contentIndex: 0 };
const delta = (contentIndex: number, words: string): AssistantMessageEvent => ({
  type: "text_delta",
  contentIndex,
  delta: words,
});
const callStart: AssistantMessageEvent = {
  type: "tool_call_start",
  contentIndex: 0,
  id: "a",
  name: "look",
};

const violations: Record<string, AssistantMessageEvent[]> = {
  "a delta after the end of its block": [start, textStart, textEnd, delta(0, "late"), done],
  "a second end of a block": [start, textStart, textEnd, textEnd, done],
  "a delta of a block that has not started": [start, delta(3, "x"), done],
  "a delta of another type": [start, callStart, delta(0, "x"), done],
  "an index that skips one": [start, { type: "text_start", contentIndex: 1 }, done],
  "an end with open text": [start, textStart, delta(0, "x"), done],
  "an end with an open call": [start, callStart, done],
  "an error with an open block": [start, textStart, {
    type: "error",
    stopReason: "error",
    error: new StreamError("Broken"),
  }],
};

for (const [violation, events] of Object.entries(violations)) {
  Deno.test(`StreamFn: ${violation} is a stream_error, and no tool runs [A44]`, async () => {
    const tool = fakeTool({ name: "look" });
    const { agent, streamFn } = testAgent([events], { tools: [tool] });
    const emitted = await checkEvents(agent.promptStream("Hi"));
    assertEquals(outlineEvents(emitted).slice(-2), ["turn_end error", "agent_end"]);
    assertEquals(agent.state.error?.code, "stream_error");
    assertEquals(tool.calls, []);
    streamFn.assertDone();
  });
}

Deno.test("StreamFn: a length stop may leave a tool call open [A44]", async () => {
  const { agent } = testAgent([
    [start, callStart, { type: "done", stopReason: "length", usage: zeroUsage() }],
    [start, textStart, delta(0, "Shorter"), textEnd, done],
  ]);
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(agent.state.error, undefined);
});

Deno.test("StreamFn: events after the terminal one are ignored", async () => {
  const { agent } = testAgent([
    [start, textStart, delta(0, "Hello"), textEnd, done, delta(0, "ignored"), done],
  ]);
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(agent.state.messages).at(-1), "assistant: Hello");
});

Deno.test("StreamFn: done with the stop reason error ends the run with an error", async () => {
  const { agent } = testAgent([[start, { type: "done", stopReason: "error", usage: zeroUsage() }]]);
  const { stopReason, error } = await agent.prompt("Hi");
  assertEquals([stopReason, error?.code], ["error", "stream_error"]);
});

Deno.test("StreamFn: done with the stop reason aborted ends the run as aborted", async () => {
  const end = { type: "done", stopReason: "aborted", usage: zeroUsage() };
  const { agent } = testAgent([[start, textStart, delta(0, "Half"), textEnd, end as never]]);
  const { stopReason, error } = await agent.prompt("Hi");
  assertEquals([stopReason, error?.code], ["aborted", undefined]);
  const message = agent.state.messages[1];
  assertEquals(message?.role === "assistant" && message.errorCode, "aborted");
});

Deno.test("StreamFn: a reply that completes after abort() is aborted, and its usage counts", async () => {
  const usage = { ...zeroUsage(), output: 7, total: 7 };
  const { agent } = testAgent([], {
    streamFn: async function* ({ signal }): AsyncGenerator<AssistantMessageEvent> {
      yield* [start, textStart, delta(0, "Half")];
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield* [delta(0, " and half"), textEnd, { ...done, usage }];
    },
  });
  const running = agent.prompt("Hi");
  await settle();
  agent.abort();
  const { stopReason, messages, usage: total } = await running;
  const last = messages.at(-1);
  assertEquals([stopReason, total.total], ["aborted", 7]);
  assertEquals(last?.role === "assistant" && [last.stopReason, outlineMessages([last])], [
    "aborted",
    ["assistant: Half"],
  ]);
});

Deno.test("StreamFn: blocks may interleave, and empty blocks are omitted", async () => {
  const { agent } = testAgent([[
    start,
    { type: "thinking_start", contentIndex: 0 },
    { type: "text_start", contentIndex: 1 },
    delta(1, "He"),
    { type: "thinking_delta", contentIndex: 0, delta: "Hm" },
    delta(1, "llo"),
    { type: "text_end", contentIndex: 1, signature: "s1" },
    { type: "thinking_end", contentIndex: 0, signature: "s0", redacted: true },
    { type: "text_start", contentIndex: 2 },
    { type: "text_end", contentIndex: 2 },
    { type: "extension", contentIndex: 3, typeName: "test.item", data: { a: 1 } },
    done,
  ]]);
  await checkEvents(agent.promptStream("Hi"));
  const assistant = agent.state.messages.at(-1);
  assertEquals(assistant?.role === "assistant" && assistant.content, [
    { type: "thinking", thinking: "Hm", signature: "s0", redacted: true },
    { type: "text", text: "Hello", signature: "s1" },
    { type: "extension", typeName: "test.item", data: { a: 1 } },
  ]);
});

Deno.test("StreamFn: an empty reply is emitted and not appended to the history", async () => {
  for (const words of ["", " \n"]) {
    const { agent } = testAgent([[start, textStart, delta(0, words), textEnd, done]]);
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(outlineEvents(events).slice(-3), [
      "message_end assistant",
      "turn_end complete",
      "agent_end",
    ]);
    assertEquals(outlineMessages(agent.state.messages), ["user: Hi"]);
  }
});

Deno.test("StreamFn: a warning is emitted as a warning of the run", async () => {
  const { agent } = testAgent([[
    start,
    { type: "warning", code: "unsupported_option", message: "No temperature", data: { a: 1 } },
    textStart,
    delta(0, "Hello"),
    textEnd,
    done,
  ]]);
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(events[6], {
    type: "warning",
    code: "unsupported_option",
    message: "No temperature",
    data: { a: 1 },
    seq: 7,
  });
});

Deno.test("StreamFn: a warning with values of other types is emitted as text, without data that is not JSON", async () => {
  const warning = { type: "warning", code: 5, message: undefined, data: { size: 1n } };
  const { agent } = testAgent([[warning as unknown as AssistantMessageEvent, done]]);
  const events = await checkEvents(agent.promptStream("Hi"));
  const emitted = events.find(({ type }) => type === "warning");
  assertEquals(emitted, { type: "warning", code: "5", message: "undefined", seq: 7 });
});

const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;
const extension = { type: "extension", contentIndex: 0, typeName: "item", data: {} };
const invalidBlocks: Record<string, readonly object[]> = {
  "a tool call without an id": [{ ...callStart, id: undefined }],
  "a tool call without a name": [{ ...callStart, name: undefined }],
  "a delta that is no string": [textStart, { ...delta(0, "x"), delta: 5 }, textEnd],
  "an extension without a typeName": [{ ...extension, typeName: undefined }],
  "an extension with a bigint": [{ ...extension, data: [1n] }],
  "an extension with a cycle": [{ ...extension, data: cycle }],
  "a signature that is no string": [textStart, { ...textEnd, signature: 5 }],
  "citations that are no list": [textStart, delta(0, "x"), { ...textEnd, citations: "page 1" }],
  "citations that are no objects": [textStart, delta(0, "x"), { ...textEnd, citations: [null] }],
  "citations with a cycle": [textStart, delta(0, "x"), { ...textEnd, citations: [cycle] }],
};

for (const [violation, events] of Object.entries(invalidBlocks)) {
  Deno.test(`StreamFn: ${violation} is a stream_error, and the next prompt works`, async () => {
    const invalid = [...events, done] as AssistantMessageEvent[];
    const { agent } = testAgent([invalid, reply("Hello")]);
    const emitted = await checkEvents(agent.promptStream("Hi"));
    assertEquals(agent.state.error?.code, "stream_error");
    assertEquals(structuredClone(agent.state.messages), agent.state.messages);
    assertEquals(outlineEvents(emitted).slice(-2), ["turn_end error", "agent_end"]);
    assertEquals((await agent.prompt("Hi")).text, "Hello");
  });
}

Deno.test("StreamFn: data of an extension that is changed later stays as it was", async () => {
  const data = { item: 1 };
  const { agent } = testAgent([], {
    streamFn: async function* (): AsyncGenerator<AssistantMessageEvent> {
      yield { type: "extension", contentIndex: 0, typeName: "item", data };
      data.item = 2;
      yield done;
    },
  });
  await agent.prompt("Hi");
  const [, assistant] = agent.state.messages;
  assertEquals(assistant?.role === "assistant" && assistant.content, [
    { type: "extension", typeName: "item", data: { item: 1 } },
  ]);
});

Deno.test("StreamFn: a thrown proxy that cannot be read ends the model call and the run", async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const { agent } = testAgent([], {
    streamFn: () => {
      throw proxy;
    },
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(agent.state.error?.code, "stream_error");
});

Deno.test("StreamFn: may return an async generator, which is closed after the terminal event", async () => {
  let closed = false;
  const { agent } = testAgent([], {
    streamFn: async function* () {
      try {
        yield* [start, textStart, delta(0, "Hello"), textEnd, done];
      } finally {
        closed = true;
      }
    },
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(agent.state.messages).at(-1), "assistant: Hello");
  assertEquals(closed, true, "the generator is closed");
});

Deno.test("StreamFn: a promise of a stream that resolves after an abort is closed unread", async () => {
  let cancelled = false;
  let resolveStream = (): void => {};
  const { agent } = testAgent([], {
    streamFn: () =>
      new Promise((resolve) => {
        const cancel = (): void => void (cancelled = true);
        resolveStream = () => resolve(new ReadableStream({ cancel }));
      }) as never,
  });
  const running = agent.prompt("Hi");
  await settle();
  agent.abort();
  assertEquals((await running).stopReason, "aborted");
  resolveStream();
  await settle();
  assertEquals(cancelled, true);
});

Deno.test("StreamFn: may return a promise of the stream, as untyped functions do", async () => {
  const { agent } = testAgent([], {
    streamFn: (async () => {
      await settle();
      return [start, textStart, delta(0, "Hello"), textEnd, done];
    }) as unknown as StreamFn,
  });
  const { error } = await agent.prompt("Hi");
  assertEquals(error?.code, "stream_error", "a list is no async iterable");
  const streaming = testAgent([], {
    streamFn: (async (request: StreamRequest) => {
      await settle();
      return scriptedStream([reply("Hello")])(request);
    }) as unknown as StreamFn,
  });
  await checkEvents(streaming.agent.promptStream("Hi"));
  assertEquals(outlineMessages(streaming.agent.state.messages).at(-1), "assistant: Hello");
});

for (
  const [failure, streamFn] of [
    ["throws", () => {
      throw new Error("no socket");
    }],
    ["returns a promise that rejects", () => Promise.reject(new Error("no socket"))],
    ["returns an iterable that throws", () => ({
      [Symbol.asyncIterator]: () => {
        throw new Error("no socket");
      },
    })],
    ["returns an iterable that rejects", () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("no socket")) }),
    })],
  ] as const
) {
  Deno.test(`StreamFn: one that ${failure} is a stream_error that is not retried [A44]`, async () => {
    const { agent } = testAgent([], { streamFn: streamFn as unknown as StreamFn });
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(outlineEvents(events).slice(-3), [
      "message_end assistant",
      "turn_end error",
      "agent_end",
    ]);
    const { error } = agent.state;
    assertEquals([error?.code, error?.message], [
      "stream_error",
      "The model stream failed: no socket",
    ]);
  });
}

Deno.test("StreamFn: an iterable whose iterator is a promise is a stream_error, and its rejection is handled", async () => {
  const streamFn = () => ({
    [Symbol.asyncIterator]: () => Promise.reject(new Error("no socket")),
  });
  const { agent } = testAgent([], { streamFn: streamFn as unknown as StreamFn });
  const { error } = await agent.prompt("Hi");
  await settle();
  assertEquals(
    error?.message,
    "The model stream failed: [Symbol.asyncIterator] returned a promise: it must return its value directly",
  );
});

for (const returned of [undefined, null, 5, "text", {}, []]) {
  Deno.test(`StreamFn: one that returns ${JSON.stringify(returned)} is a stream_error`, async () => {
    const { agent } = testAgent([], { streamFn: (() => returned) as unknown as StreamFn });
    assertEquals((await agent.prompt("Hi")).error?.code, "stream_error");
  });
}

for (const event of [null, undefined]) {
  Deno.test(`StreamFn: the event ${JSON.stringify(event)} is a stream_error`, async () => {
    const { agent } = testAgent([[start, event as unknown as AssistantMessageEvent, done]]);
    assertEquals((await agent.prompt("Hi")).error?.code, "stream_error");
  });
}

Deno.test("StreamFn: abort() ends a call whose promise never settles", async () => {
  const { agent, clock } = testAgent([], {
    streamFn: (() => new Promise(() => {})) as unknown as StreamFn,
  });
  const running = agent.prompt("Hi");
  await settle();
  agent.abort("enough");
  const { stopReason, abortReason } = await running;
  assertEquals([stopReason, abortReason, clock.waits], ["aborted", "enough", []]);
});

Deno.test("StreamRequest: has the id of the run and the number of the turn, in every attempt", async () => {
  const { agent, streamFn } = testAgent([
    fail("network_error", "Reset"),
    reply([toolCall("look")]),
    reply("Seen"),
    reply("Again"),
  ], { ...scriptedPorts(new InstantClock()), tools: [fakeTool({ name: "look" })] });
  await agent.prompt("Look");
  await agent.prompt("Again");
  assertEquals(streamFn.calls.map(({ runId, turn }) => [runId, turn]), [
    ["run_1", 1],
    ["run_1", 1],
    ["run_1", 2],
    ["run_2", 1],
  ]);
});
