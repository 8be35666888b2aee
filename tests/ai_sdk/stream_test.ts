/**
 * The stream of chunks with the functions of the AI SDK.
 *
 * @module
 */

import {
  createUIMessageStreamResponse,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { assertEquals } from "@std/assert";
import { Agent, type AssistantMessageEvent, SessionError } from "../../mod.ts";
import { zeroUsage } from "../../src/loop/mod.ts";
import {
  toUiMessages,
  toUiMessageStream,
  uiMessageHandler,
} from "../../src/protocols/ai_sdk/mod.ts";
import { fail, hang, reply, scriptedStream } from "../../src/testing/mod.ts";

Deno.test("toUiMessageStream(): readUIMessageStream() and createUIMessageStreamResponse() of the AI SDK take it", async () => {
  const streamFn = scriptedStream([reply("One"), reply("Two")]);
  const agent = new Agent({ model: "test/model", streamFn });
  const stream: ReadableStream<UIMessageChunk> = toUiMessageStream(agent.promptStream("Count"));
  const messages = await Array.fromAsync(readUIMessageStream({ stream }));
  assertEquals(messages.at(-1)?.parts.map((part) => part.type === "text" ? part.text : part.type), [
    "step-start",
    "One",
  ]);
  const response = createUIMessageStreamResponse({
    stream: toUiMessageStream(agent.promptStream("Go on"), {
      messageMetadata: ({ stopReason }) => ({ stopReason }),
    }),
  });
  const text = await response.text();
  assertEquals(
    text.includes('"finishReason":"stop","messageMetadata":{"stopReason":"stop"}'),
    true,
    text,
  );
});

Deno.test("toUiMessageStream(): a run that cannot start is an error chunk", async () => {
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([hang()]) });
  const run = agent.prompt("Hello");
  const chunks = await Array.fromAsync(toUiMessageStream(agent.promptStream("Me too")));
  assertEquals(chunks.map(({ type }) => type), ["error"]);
  agent.abort();
  await run;
});

Deno.test("toUiMessageStream(): cancelling it aborts the run", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([hang({ after: "One" })]),
  });
  const reader = toUiMessageStream(agent.promptStream("Hello")).getReader();
  await reader.read();
  await reader.cancel();
  await agent.waitForIdle();
  assertEquals(agent.state.isRunning, false);
});

/** Returns the kinds and texts of the parts of an answer. */
function listTexts(message: Pick<UIMessage, "parts"> | undefined) {
  return message?.parts.flatMap((part) =>
    "text" in part ? [[part.type, part.text, part.state]] : []
  );
}

Deno.test("toUiMessageStream(): texts and thoughts that a model writes in turn are the same parts as after a reload", async () => {
  const write = (type: "text" | "thinking", contentIndex: number, delta: string) =>
    ({ type: `${type}_delta`, contentIndex, delta }) as const;
  const start = (type: "text" | "thinking", contentIndex: number) =>
    ({ type: `${type}_start`, contentIndex }) as const;
  const end = (type: "text" | "thinking", contentIndex: number) =>
    ({ type: `${type}_end`, contentIndex }) as const;
  const events: AssistantMessageEvent[] = [
    { type: "start" },
    start("thinking", 0),
    write("thinking", 0, "a"),
    start("thinking", 1),
    write("thinking", 1, "1"),
    write("thinking", 0, "b"),
    end("thinking", 0),
    end("thinking", 1),
    start("text", 2),
    write("text", 2, "x"),
    start("text", 3),
    write("text", 3, "8"),
    write("text", 2, "y"),
    write("text", 3, "9"),
    end("text", 2),
    end("text", 3),
    { type: "done", stopReason: "stop", usage: zeroUsage() },
  ];
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([events]) });
  const stream: ReadableStream<UIMessageChunk> = toUiMessageStream(agent.promptStream("Count"));
  const messages = await Array.fromAsync(readUIMessageStream({ stream }));
  const expected = [
    ["reasoning", "ab", "done"],
    ["reasoning", "1", "done"],
    ["text", "xy", "done"],
    ["text", "89", "done"],
  ];
  assertEquals(listTexts(messages.at(-1)), expected);
  assertEquals(listTexts(toUiMessages(agent.state.messages).at(-1)), expected);
});

Deno.test("uiMessageHandler(): onError chooses the texts of errors, and gets those of createAgent", async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => {
    errors.push(error instanceof Error && error.message);
    return "Please try again";
  };
  const streamFn = scriptedStream([fail("auth_error", "The key sk-1 is invalid")]);
  const agent = new Agent({ model: "test/model", streamFn });
  const failing = [
    () => agent,
    () => Promise.reject(new SessionError("Locked by 1", { reason: "locked" })),
  ];
  const texts = [];
  for (const createAgent of failing) {
    const handler = uiMessageHandler({ createAgent, onError });
    const message = { id: "m", role: "user", parts: [{ type: "text", text: "Hello" }] };
    const body = JSON.stringify({ id: "c", message });
    const response = await handler(new Request("http://localhost", { method: "POST", body }));
    const text = await response.text();
    texts.push(text.split("\n\n").find((part) => part.includes("Please")), response.status);
  }
  assertEquals(errors, ["The key sk-1 is invalid", "Locked by 1"]);
  assertEquals(texts, [
    'data: {"type":"error","errorText":"Please try again"}',
    200,
    "Please try again",
    500,
  ]);
});

Deno.test("toUiMessageStream(): an onError without a text, or that throws, shows no details", async () => {
  const throwing = () => {
    throw new Error("secret");
  };
  const rejecting = () => Promise.reject(new Error("secret")) as never;
  for (const onError of [throwing, rejecting, () => undefined as never]) {
    const streamFn = scriptedStream([fail("auth_error", "The key sk-1 is invalid")]);
    const agent = new Agent({ model: "test/model", streamFn });
    const chunks = await Array.fromAsync(toUiMessageStream(agent.promptStream("Hi"), { onError }));
    assertEquals(chunks.at(-1), { type: "error", errorText: "The run has failed" });
  }
});

Deno.test("toUiMessageStream(): a messageMetadata that returns a promise is an error", async () => {
  const errors: unknown[] = [];
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hi")]) });
  const chunks = await Array.fromAsync(toUiMessageStream(agent.promptStream("Hi"), {
    messageMetadata: () => Promise.reject(new Error("No disk")),
    onError: (error) => {
      errors.push(error instanceof TypeError && error.message);
      return "Sorry";
    },
  }));
  assertEquals(chunks.at(-1), { type: "error", errorText: "Sorry" });
  assertEquals(errors, [
    "messageMetadata() returned a promise: it must return its value directly",
  ]);
});
