/**
 * Exact events of hand-made streams.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import type { AssistantMessageEvent } from "../../src/core/streams/stream.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { HANDMADE_APIS, KEY, readHandmade } from "./handmade_streams.ts";
import { createMinimalRequest } from "./wire_tests.ts";

/** Reads a stream, and returns its events without warnings about the unknown model. */
async function readEvents(
  api: string,
  events: readonly object[] | string,
): Promise<AssistantMessageEvent[]> {
  return (await read(api, events)).events.filter(({ type }) => type !== "warning");
}

function read(api: string, events: readonly object[] | string): Promise<CollectedReply> {
  const found = HANDMADE_APIS.find(({ name }) => name === api);
  assert(found);
  return readHandmade(found, events);
}

const READ_A = '{"path":"a"}';

function textEvents(contentIndex: number, ...deltas: string[]): AssistantMessageEvent[] {
  return [
    { type: "text_start", contentIndex },
    ...deltas.map((delta) => ({ type: "text_delta", contentIndex, delta }) as const),
    { type: "text_end", contentIndex },
  ];
}

function callEvents(contentIndex: number, id: string): AssistantMessageEvent[] {
  return [
    { type: "tool_call_start", contentIndex, id, name: "read_file" },
    { type: "tool_call_delta", contentIndex, delta: READ_A },
    { type: "tool_call_end", contentIndex },
  ];
}

// Anthropic

Deno.test("createAnthropic(): reads thinking, two texts and a call, skips empty deltas and merges the usage [A128]", async () => {
  const start = (index: number, content_block: object) => ({
    type: "content_block_start",
    index,
    content_block,
  });
  const delta = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
  const stop = (index: number) => ({ type: "content_block_stop", index });
  const usage = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 100 };
  const events = await readEvents("anthropic", [
    { type: "message_start", message: { id: "msg_1", usage } },
    start(0, { type: "thinking", thinking: "" }),
    delta(0, { type: "thinking_delta", thinking: "Hm." }),
    delta(0, { type: "signature_delta", signature: "c2ln" }),
    stop(0),
    start(1, { type: "text", text: "" }),
    delta(1, { type: "text_delta", text: "" }),
    delta(1, { type: "text_delta", text: "One" }),
    stop(1),
    start(2, { type: "text", text: "" }),
    delta(2, { type: "text_delta", text: "Two" }),
    stop(2),
    start(3, { type: "tool_use", id: "t1", name: "read_file", input: {} }),
    delta(3, { type: "input_json_delta", partial_json: "" }),
    delta(3, { type: "input_json_delta", partial_json: READ_A }),
    stop(3),
    {
      type: "message_delta",
      delta: { stop_reason: "tool_use" },
      usage: { output_tokens: 20, cache_creation_input_tokens: 50 },
    },
    { type: "message_stop" },
  ]);
  assertEquals(events, [
    { type: "start" },
    { type: "thinking_start", contentIndex: 0 },
    { type: "thinking_delta", contentIndex: 0, delta: "Hm." },
    { type: "thinking_end", contentIndex: 0, signature: "c2ln" },
    ...textEvents(1, "One"),
    ...textEvents(2, "Two"),
    ...callEvents(3, "t1"),
    {
      type: "done",
      stopReason: "tool_use",
      usage: { input: 10, output: 20, cacheRead: 100, cacheWrite: 50, total: 180 },
      responseId: "msg_1",
    },
  ]);
});

Deno.test("createAnthropic(): sends the key of the request as x-api-key, and nothing after an abort [A130]", async () => {
  const fetch = replayFetch([{ status: 401, body: `invalid key ${KEY}` }]);
  const streamFn = createAnthropic({ fetch, apiKey: "sk-adapter" });
  const request = createMinimalRequest("anthropic", "claude-sonnet-4-5");
  const options = { ...request.options, apiKey: KEY };
  const aborted = { ...request, options, signal: AbortSignal.abort("stopped") };
  assertEquals((await readReply(streamFn(aborted))).stopReason, "aborted");
  assertEquals(fetch.requests, []);
  const { error } = await readReply(streamFn({ ...request, options }));
  assertEquals(fetch.requests[0]?.headers.get("x-api-key"), KEY);
  assertEquals([error?.code, error?.message.includes(KEY)], ["auth_error", false]);
});

// Chat completions

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const piece = (index: number, fields: object) => chunk({ tool_calls: [{ index, ...fields }] });
const USAGE = {
  choices: [],
  usage: {
    prompt_tokens: 42,
    completion_tokens: 17,
    total_tokens: 80,
    completion_tokens_details: { reasoning_tokens: 5 },
  },
};
const CHAT_DONE: AssistantMessageEvent = {
  type: "done",
  stopReason: "tool_use",
  usage: { input: 42, output: 17, cacheRead: 0, cacheWrite: 0, total: 80, extra: { reasoning: 5 } },
};

Deno.test("createOpenAI(): reads text and calls, waits for late names and keeps the provider's total [A131, B66]", async () => {
  const args = READ_A.slice(0, 4);
  const rest = READ_A.slice(4);
  const events = await readEvents("openai", [
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "Look" }),
    chunk({ content: "ing." }),
    piece(0, { id: "c1", function: { arguments: args } }),
    piece(0, { function: { name: "read_" } }),
    piece(0, { function: { name: "file" } }),
    piece(1, { id: "c2", function: { name: "read_file", arguments: args } }),
    piece(0, { function: { arguments: rest } }),
    piece(1, { function: { arguments: rest } }),
    chunk({}, "tool_calls"),
    USAGE,
  ]);
  const delta = (contentIndex: number, delta: string) =>
    ({ type: "tool_call_delta", contentIndex, delta }) as const;
  const name = "read_file";
  assertEquals(events, [
    { type: "start" },
    ...textEvents(0, "Look", "ing."),
    { type: "tool_call_start", contentIndex: 1, id: "c1", name },
    delta(1, args),
    { type: "tool_call_start", contentIndex: 2, id: "c2", name },
    delta(2, args),
    delta(1, rest),
    delta(2, rest),
    { type: "tool_call_end", contentIndex: 1 },
    { type: "tool_call_end", contentIndex: 2 },
    CHAT_DONE,
  ]);
});

Deno.test("createOpenAI(): a filtered, incomplete or empty reply ends with exactly one error; empty choices are ignored [A132]", async () => {
  const text = `data: ${JSON.stringify(chunk({ content: "x" }))}\n\n`;
  const ends: readonly (readonly [readonly object[] | string, string])[] = [
    [[chunk({ content: "x" }), chunk({}, "content_filter")], "content_filtered"],
    [text, "network_error"],
    [`${text}data: [DONE]\n\n`, "network_error"],
    ["", "network_error"],
  ];
  for (const [stream, code] of ends) {
    const { events, error } = await read("openai", stream);
    assertEquals(error?.code, code);
    assertEquals(events.filter(({ type }) => type === "error" || type === "done").length, 1);
    assertEquals(events.at(-1)?.type, "error");
  }
  const empty = { choices: [] };
  const { text: answer, stopReason } = await read("openai", [
    empty,
    chunk({ content: "Yes." }),
    empty,
    chunk({}, "stop"),
  ]);
  assertEquals([answer, stopReason], ["Yes.", "stop"]);
});

Deno.test("createOpenAI(): reasoning in the chunk of a text comes before it [B67]", async () => {
  for (const member of ["reasoning_content", "reasoning"]) {
    const { content } = await read("openai", [
      chunk({ content: "Yes.", [member]: "Hm." }),
      chunk({}, "stop"),
    ]);
    assertEquals(content.map(({ type }) => type), ["thinking", "text"], member);
  }
});

Deno.test("all providers: usage at the start, at the end or twice gives one total [B69]", async () => {
  const anthropic = (first: object, last: object) => [
    { type: "message_start", message: { id: "m", usage: first } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: last },
    { type: "message_stop" },
  ];
  const counts = { input_tokens: 3, output_tokens: 4 };
  const chat = (first: object, last: object) => [
    { ...chunk({ content: "x" }), ...first },
    { ...chunk({}, "stop"), ...last },
  ];
  const usage = { usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } };
  const google = (first: object, last: object) => [
    { candidates: [{ content: { parts: [{ text: "x" }] } }], ...first },
    { candidates: [{ finishReason: "STOP" }], ...last },
  ];
  const metadata = {
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
  };
  const streams: readonly (readonly [string, readonly object[]])[] = [
    ["anthropic", anthropic(counts, {})],
    ["anthropic", anthropic({}, counts)],
    ["anthropic", anthropic(counts, counts)],
    ["openai", chat(usage, {})],
    ["openai", chat({}, usage)],
    ["openai", chat(usage, usage)],
    ["google", google(metadata, {})],
    ["google", google({}, metadata)],
    ["google", google(metadata, metadata)],
  ];
  for (const [api, events] of streams) {
    const { usage } = await read(api, events);
    assertEquals([usage?.input, usage?.output, usage?.total], [3, 4, 7], JSON.stringify(events));
  }
});

// Bedrock

Deno.test("createBedrock(): reads text and a call in order [A138]", async () => {
  const delta = (contentBlockIndex: number, delta: object) => ({
    contentBlockDelta: { contentBlockIndex, delta },
  });
  const stop = (contentBlockIndex: number) => ({ contentBlockStop: { contentBlockIndex } });
  const start = { toolUse: { toolUseId: "t1", name: "read_file" } };
  const events = await readEvents("bedrock", [
    { messageStart: { role: "assistant" } },
    delta(0, { text: "Look" }),
    delta(0, { text: "ing." }),
    stop(0),
    { contentBlockStart: { contentBlockIndex: 1, start } },
    delta(1, { toolUse: { input: READ_A } }),
    stop(1),
    { messageStop: { stopReason: "tool_use" } },
    { metadata: { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 } } },
  ]);
  assertEquals(events, [
    { type: "start" },
    ...textEvents(0, "Look", "ing."),
    ...callEvents(1, "t1"),
    {
      type: "done",
      stopReason: "tool_use",
      usage: { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 },
    },
  ]);
});

Deno.test("createBedrock(): an input that is too long is an overflow, and an aborted request is not sent [A138]", async () => {
  const body = JSON.stringify({ message: "Input is too long for requested model." });
  const headers = { "x-amzn-errortype": "ValidationException" };
  const fetch = replayFetch([{ status: 400, headers, body }]);
  const streamFn = createBedrock({ fetch, region: "us-east-1", bearerToken: KEY });
  const request = createMinimalRequest("bedrock", "amazon.nova-2-lite-v1:0");
  const aborted = { ...request, signal: AbortSignal.abort("stopped") };
  assertEquals((await readReply(streamFn(aborted))).error?.code, "aborted");
  assertEquals(fetch.requests, []);
  assertEquals((await readReply(streamFn(request))).error?.code, "context_window_overflow");
});
