import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { Agent } from "../agent/agent.ts";
import { AbortedError, BadRequestError, NetworkError, StreamError } from "../core/errors/errors.ts";
import { modelSpec } from "../core/models/model.ts";
import { zeroUsage } from "../core/models/usage.ts";
import { ReplyAccumulator } from "../core/streams/accumulate.ts";
import type { AssistantMessageEvent, StreamRequest } from "../core/streams/stream.ts";
import { collectEvents } from "./collect_events.ts";
import { EventGrammar } from "./event_grammar.ts";
import { text, thinking, toolCall } from "./messages.ts";
import { endWithoutTerminal, fail, hang, reply } from "./script.ts";
import { scriptedStream } from "./scripted_stream.ts";

const usage = zeroUsage();

function createRequest(signal: AbortSignal = new AbortController().signal): StreamRequest {
  const context = { systemPrompt: "", messages: [], tools: [] };
  return { model: modelSpec("test/model"), context, options: {}, signal };
}

function getTypes(events: readonly AssistantMessageEvent[]): string[] {
  return events.map(({ type }) => type);
}

Deno.test("scriptedStream() streams text word by word", async () => {
  const stream = scriptedStream([reply("Hello, big world")]);
  assertEquals(await collectEvents(stream(createRequest())), [
    { type: "start" },
    { type: "text_start", contentIndex: 0 },
    { type: "text_delta", contentIndex: 0, delta: "Hello, " },
    { type: "text_delta", contentIndex: 0, delta: "big " },
    { type: "text_delta", contentIndex: 0, delta: "world" },
    { type: "text_end", contentIndex: 0 },
    { type: "done", stopReason: "stop", usage },
  ]);
});

Deno.test("scriptedStream() keeps the order, signatures and arguments of blocks", async () => {
  const blocks = [
    thinking("Let me see", { signature: "s1" }),
    text("Looking", { signature: "s2" }),
    toolCall("read_file", { path: "a.txt", lines: [1, 2, 3, 4, 5] }, { id: "c1" }),
    toolCall("read_file", { path: "b.txt" }, { signature: "s3" }),
  ];
  const stream = scriptedStream([reply(blocks)]);
  const reader = new ReplyAccumulator();
  for await (const event of stream(createRequest())) reader.apply(event);
  assertEquals(reader.finish().content, [
    ...blocks.slice(0, 3),
    {
      type: "tool_call",
      id: "call_1",
      name: "read_file",
      arguments: { path: "b.txt" },
      signature: "s3",
    },
  ]);
});

Deno.test("scriptedStream() does not split characters of arguments", async () => {
  const stream = scriptedStream([reply([toolCall("write", `${"a".repeat(15)}👋b`)])]);
  const deltas: string[] = [];
  for await (const event of stream(createRequest())) {
    if (event.type === "tool_call_delta") deltas.push(event.delta);
  }
  assertEquals(deltas, [`${"a".repeat(15)}👋`, "b"]);
});

Deno.test("scriptedStream() numbers calls without an id across the script", async () => {
  const stream = scriptedStream([
    reply([toolCall("a"), toolCall("b", {}, { id: "own" })]),
    reply([toolCall("c")]),
  ]);
  const ids: string[] = [];
  for (let call = 0; call < 2; call++) {
    for await (const event of stream(createRequest())) {
      if (event.type === "tool_call_start") ids.push(event.id);
    }
  }
  assertEquals(ids, ["call_1", "own", "call_2"]);
});

Deno.test("reply() has stop reason tool_use if it has calls, unless stopReason is set", async () => {
  const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
  const stream = scriptedStream([
    reply([toolCall("a")]),
    reply("cut", { stopReason: "length", usage }),
  ]);
  const first = await collectEvents(stream(createRequest()));
  const second = await collectEvents(stream(createRequest()));
  assertEquals(first.at(-1), { type: "done", stopReason: "tool_use", usage: zeroUsage() });
  assertEquals(second.at(-1), { type: "done", stopReason: "length", usage });
});

Deno.test("reply() leaves a call with raw arguments open only when it stops with length", async () => {
  const cut = [toolCall("complete", {}, { id: "a" }), toolCall("half", '{"path": "a', { id: "b" })];
  const stream = scriptedStream([reply(cut, { stopReason: "length" }), reply(cut)]);
  const states: string[][] = [];
  for (let call = 0; call < 2; call++) {
    const reader = new ReplyAccumulator();
    for await (const event of stream(createRequest())) reader.apply(event);
    states.push(reader.finish().calls.map(({ state }) => state.type));
  }
  assertEquals(states, [["complete", "truncated"], ["complete", "invalid"]]);
});

Deno.test("fail() ends with the given code, retryAfterMs and usage, after its content", async () => {
  const stream = scriptedStream([
    fail("network_error", "connection reset", { after: "Well", retryAfterMs: 1500, usage }),
  ]);
  const events = await collectEvents(stream(createRequest()));
  assertEquals(getTypes(events), ["start", "text_start", "text_delta", "text_end", "error"]);
  const last = events.at(-1);
  assert(last?.type === "error");
  assertInstanceOf(last.error, NetworkError);
  assertEquals(last.stopReason, "error");
  assertEquals(last.error.retryAfterMs, 1500);
  assertEquals(last.usage, usage);
});

Deno.test("fail() with code aborted ends with stop reason aborted", async () => {
  const stream = scriptedStream([fail("aborted", "enough")]);
  const last = (await collectEvents(stream(createRequest()))).at(-1);
  assert(last?.type === "error");
  assertEquals(last.stopReason, "aborted");
});

Deno.test("hang() closes its blocks and stops with aborted when the signal fires", async () => {
  const controller = new AbortController();
  const stream = scriptedStream([hang({ after: "Half a" })]);
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream(createRequest(controller.signal))) {
    events.push(event);
    if (event.type === "text_delta" && event.delta === "a") {
      setTimeout(() => controller.abort("enough"));
    }
  }
  assertEquals(getTypes(events), [
    "start",
    "text_start",
    "text_delta",
    "text_delta",
    "text_end",
    "error",
  ]);
  const last = events.at(-1);
  assert(last?.type === "error");
  assertEquals(last.stopReason, "aborted");
  assertInstanceOf(last.error, AbortedError);
  assertEquals(last.error.cause, "enough");
});

Deno.test("scriptedStream() closes open blocks on abort between deltas", async () => {
  const controller = new AbortController();
  const stream = scriptedStream([reply([toolCall("write", { text: "x".repeat(100) })])]);
  const events: AssistantMessageEvent[] = [];
  const reader = new ReplyAccumulator();
  for await (const event of stream(createRequest(controller.signal))) {
    events.push(event);
    reader.apply(event);
    if (events.length === 3) controller.abort();
  }
  assertEquals(getTypes(events), [
    "start",
    "tool_call_start",
    "tool_call_delta",
    "tool_call_end",
    "error",
  ]);
});

Deno.test("scriptedStream() emits start and error for a request that is already aborted", async () => {
  const events = await collectEvents(
    scriptedStream([reply("never")])(createRequest(AbortSignal.abort("no"))),
  );
  assertEquals(getTypes(events), ["start", "error"]);
});

Deno.test("hang() with ignoresSignal keeps hanging after an abort", async () => {
  const controller = new AbortController();
  const stream = scriptedStream([hang({ ignoresSignal: true })])(createRequest(controller.signal));
  const iterator = stream[Symbol.asyncIterator]();
  assertEquals((await iterator.next()).value, { type: "start" });
  controller.abort();
  const pending = iterator.next();
  assertEquals(
    await Promise.race([pending, new Promise((resolve) => setTimeout(resolve, 5, "pending"))]),
    "pending",
  );
});

Deno.test("endWithoutTerminal() closes the stream without done or error", async () => {
  const events = await collectEvents(scriptedStream([endWithoutTerminal("Well")])(createRequest()));
  assertEquals(getTypes(events), ["start", "text_start", "text_delta"]);
});

Deno.test("hang() can hang within the arguments of a call", async () => {
  const controller = new AbortController();
  const stream = scriptedStream([hang({ after: [text("Now"), toolCall("bash", '{"command":')] })]);
  const reader = new ReplyAccumulator();
  for await (const event of stream(createRequest(controller.signal))) {
    reader.apply(event);
    if (event.type === "tool_call_delta") controller.abort();
  }
  assertEquals(reader.finish().calls.map(({ state }) => state.type), ["invalid"]);
});

Deno.test("scriptedStream() streams raw events unchanged, even illegal ones", async () => {
  const raw: AssistantMessageEvent[] = [
    { type: "text_delta", contentIndex: 7, delta: "no start" },
    { type: "done", stopReason: "stop", usage },
    { type: "done", stopReason: "stop", usage },
  ];
  assertEquals(await collectEvents(scriptedStream([raw])(createRequest())), raw);
});

Deno.test("scriptedStream() reads an async generator as it is pulled, and closes it when the signal fires", async () => {
  const controller = new AbortController();
  let returned = false;
  const stream = scriptedStream([async function* (): AsyncGenerator<AssistantMessageEvent> {
    try {
      yield { type: "start" };
      yield { type: "text_start", contentIndex: 0 };
      await new Promise((resolve) => controller.signal.addEventListener("abort", resolve));
      await Promise.resolve();
    } finally {
      returned = true;
    }
  }]);
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream(createRequest(controller.signal))) {
    events.push(event);
    if (event.type === "text_start") controller.abort();
  }
  assertEquals(getTypes(events), ["start", "text_start", "text_end", "error"]);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert(returned);
});

Deno.test("scriptedStream() calls a function with the request", async () => {
  const stream = scriptedStream([(request) => reply(`Model: ${request.model.modelId}`)]);
  const reader = new ReplyAccumulator();
  for await (const event of stream(createRequest())) reader.apply(event);
  assertEquals(reader.finish().content, [text("Model: model")]);
});

Deno.test("scriptedStream() ends with a StreamError when a function throws", async () => {
  const stream = scriptedStream([() => {
    throw new Error("bad script");
  }]);
  const events = await collectEvents(stream(createRequest()));
  assertEquals(getTypes(events), ["start", "error"]);
  const last = events.at(-1);
  assert(last?.type === "error");
  assertInstanceOf(last.error, StreamError);
  assertEquals(last.error.message, "A scripted step failed: bad script");
});

Deno.test("scriptedStream() ends a call after the last step with a StreamError", async () => {
  const stream = scriptedStream([reply("only")]);
  await collectEvents(stream(createRequest()));
  const last = (await collectEvents(stream(createRequest()))).at(-1);
  assert(last?.type === "error");
  assertEquals(last.error.code, "stream_error");
  assertEquals(last.error.message, "No step for model call 2: the script has 1 step");
  assertThrows(
    () => stream.assertDone(),
    Error,
    "The script has 1 step, but the model was called 2 times",
  );
});

Deno.test("assertDone() throws while steps are unused", async () => {
  const stream = scriptedStream([reply("a"), reply("b")]);
  await collectEvents(stream(createRequest()));
  assertThrows(
    () => stream.assertDone(),
    Error,
    "The script has 2 steps, but the model was called once",
  );
  await collectEvents(stream(createRequest()));
  stream.assertDone();
});

Deno.test("scriptedStream() records a snapshot of each request", () => {
  const stream = scriptedStream([reply("a")]);
  const messages = [{ role: "user" as const, content: [text("first")], timestamp: 0 }];
  const request = createRequest();
  stream({ ...request, context: { ...request.context, messages } });
  messages.push({ role: "user", content: [text("second")], timestamp: 0 });
  assertEquals(stream.calls[0]?.context.messages.length, 1);
});

Deno.test("scriptedStream() waits deltaMs before each delta with the sleep option", async () => {
  const waits: number[] = [];
  const stream = scriptedStream([reply("one two")], {
    deltaMs: 20,
    sleep: (milliseconds) => {
      waits.push(milliseconds);
      return Promise.resolve();
    },
  });
  await collectEvents(stream(createRequest()));
  assertEquals(waits, [20, 20]);
});

Deno.test("scriptedStream() leaves no listener on a signal that outlives many calls", async () => {
  const controller = new AbortController();
  const listeners = countListeners(controller.signal);
  const steps = Array.from({ length: 90 }, (_, index) => {
    return index % 3 === 0 ? reply("a b") : index % 3 === 1 ? hang() : fail("network_error", "x");
  });
  const stream = scriptedStream(steps);
  for (let call = 0; call < steps.length; call++) {
    for await (const event of stream(createRequest(controller.signal))) {
      if (call % 3 === 1 && event.type === "start") break;
    }
  }
  assertEquals(listeners(), 0);
});

function countListeners(signal: AbortSignal): () => number {
  let count = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    count++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    count--;
    removeEventListener.apply(signal, args);
  };
  return () => count;
}

Deno.test("reply() reports the cost and the id of the reply, and the citations of a text", async () => {
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
  const citations = [{ type: "url", url: "https://example.com", title: "Example" }] as const;
  const stream = scriptedStream([
    reply([text("As written", { citations }), text("there", { signature: "s", citations })], {
      cost,
      responseId: "response_1",
    }),
  ]);
  const reader = new ReplyAccumulator();
  const events = await collectEvents(stream(createRequest()));
  for (const event of events) reader.apply(event);
  assertEquals(reader.finish().content, [
    { type: "text", text: "As written", citations },
    { type: "text", text: "there", signature: "s", citations },
  ]);
  const done = { type: "done", stopReason: "stop", usage, cost, responseId: "response_1" } as const;
  assertEquals(events.at(-1), done);
});

Deno.test("scriptedStream() has the prices, context windows and strict schemas of its options", () => {
  const prices = { "test/model": { input: 1, output: 2 } };
  const stream = scriptedStream([], {
    prices,
    contextWindow: ({ modelId }) => modelId === "model" ? 1000 : undefined,
    hasStrictSchema: () => true,
  });
  assertEquals(stream.prices, prices);
  assertEquals(stream.contextWindow?.(modelSpec("test/model")), 1000);
  assertEquals(stream.contextWindow?.(modelSpec("test/other")), undefined);
  assertEquals(stream.hasStrictSchema?.(modelSpec("test/model"), {}), true);
  const { prices: unknown, contextWindow, hasStrictSchema } = scriptedStream([]);
  assertEquals([unknown, contextWindow, hasStrictSchema], [undefined, undefined, undefined]);
});

Deno.test("scriptedStream() gives an agent the prices of its model calls", async () => {
  const usage = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, total: 1_000_000 };
  const streamFn = scriptedStream([reply("Hi", { usage })], {
    prices: { "test/model": { input: 3, output: 15 } },
  });
  const { cost } = await new Agent({ model: "test/model", streamFn }).prompt("Hello");
  assertEquals(cost.total, 3);
});

Deno.test("scriptedStream(), toolCall() and the grammar throw for unknown options", () => {
  const check = (call: () => unknown, message: string) =>
    assertThrows(call, BadRequestError, message);
  check(() => scriptedStream([], { deltaMS: 5, price: {} } as never), "did you mean deltaMs?");
  check(() => toolCall("a", {}, { di: "c1" } as never), 'Unknown option "di" of the tool call');
  check(() => new EventGrammar({ checkSubAgents: true } as never), "did you mean checksSubAgents?");
});

Deno.test("reply(), fail(), hang() and endWithoutTerminal() throw for invalid content and unknown options", () => {
  const cases: readonly (readonly [call: () => unknown, message: string])[] = [
    [() => reply([5] as never), "Invalid reply: content must have blocks"],
    [() => reply(5 as never), "a text or an array of blocks, not 5"],
    [() => reply("Hi", { stopReasn: "length" } as never), "did you mean stopReason?"],
    [() => reply("Hi", null as never), "The options of reply() must be an object, not null"],
    [() => fail("network_error", "x", { retriable: true } as never), "did you mean retryable?"],
    [() => fail("network_error", "x", { after: {} as never }), "array of blocks, not an object"],
    [() => hang({ afters: "Hi" } as never), "did you mean after?"],
    [() => hang({ after: [{}] as never }), "Invalid reply"],
    [() => endWithoutTerminal(null as never), "array of blocks, not null"],
  ];
  for (const [call, message] of cases) assertThrows(call, BadRequestError, message);
});

Deno.test("scriptedStream() ends with a StreamError when a function returns no answer", async () => {
  for (const value of ["Hello", 5, null, undefined, () => reply("Hi")]) {
    const stream = scriptedStream([() => value as never]);
    const events = await Array.fromAsync(stream(createRequest()));
    const last = events.at(-1);
    assert(last?.type === "error");
    assertStringIncludes(last.error.message, 'must return an answer, such as reply("Hello"), not');
  }
});
