/**
 * The stream of chunks with the functions of the AI SDK.
 *
 * @module
 */

import { createUIMessageStreamResponse, readUIMessageStream, type UIMessageChunk } from "ai";
import { assertEquals } from "@std/assert";
import { Agent } from "../../mod.ts";
import { toUiMessageStream } from "../../src/protocols/ai_sdk/mod.ts";
import { hang, reply, scriptedStream } from "../../src/testing/mod.ts";

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
