import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createAzure } from "../../adapters/azure/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createOllama } from "../../adapters/ollama/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import { replayFetch, type ReplayResponse } from "../../src/testing/replay_fetch.ts";
import { createMinimalRequest } from "./wire_tests.ts";

type CreateStreamFn = (options: { fetch: typeof globalThis.fetch }) => StreamFn;

const createChat: CreateStreamFn = (options) => createOpenAI({ ...options, api: "chat" });
const createResponses: CreateStreamFn = (options) => createOpenAI({ ...options, api: "responses" });

const READ_FILE = { name: "read_file", description: "", parameters: { type: "object" } } as const;
const LIST_ALL = { ...READ_FILE, name: "list_all" } as const;

/** Reads a reply whose body is the given events, or the given response. */
function read(
  create: CreateStreamFn,
  response: readonly object[] | string | ReplayResponse,
): Promise<CollectedReply> {
  const body = Array.isArray(response)
    ? response.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
    : response as string | ReplayResponse;
  const request = createMinimalRequest("acme", "m");
  const context = { ...request.context, tools: [READ_FILE, LIST_ALL] };
  return readReply(create({ fetch: replayFetch(body) })({ ...request, context }));
}

function summarizeCalls({ calls }: CollectedReply): unknown[] {
  return calls.map(({ name, arguments: args }) => [name, args]);
}

function summarizeEnd({ error, stopReason }: CollectedReply): string {
  return error ? `${error.code}: ${error.message}` : stopReason;
}

// Chat completions

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (fields: object) => chunk({ tool_calls: [fields] });
const DONE = "data: [DONE]\n\n";
const toBody = (...events: object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

Deno.test("chat: a reply with a finish reason is complete without [DONE] and without usage", async () => {
  const reply = await read(createChat, [chunk({ content: "Yes." }), chunk({}, "stop")]);
  assertEquals([reply.text, summarizeEnd(reply)], ["Yes.", "stop"]);
});

Deno.test("chat: [DONE] without a finish reason and usage is a network error, so that no call runs", async () => {
  const args = { index: 0, id: "1", function: { name: "read_file", arguments: '{"path":' } };
  const reply = await read(createChat, toBody(chunk({ content: "Ye" }), call(args)) + DONE);
  assertEquals(
    summarizeEnd(reply),
    "network_error: acme: the reply ended without a finish reason",
  );
});

Deno.test("chat: [DONE] after the usage completes a reply without a finish reason", async () => {
  const usage = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } };
  const reply = await read(createChat, toBody(chunk({ content: "Yes." }), usage) + DONE);
  assertEquals([reply.text, summarizeEnd(reply)], ["Yes.", "stop"]);
});

Deno.test("createAzure(): a reply is complete with [DONE] or usage, since a filter may follow the finish reason", async () => {
  const create: CreateStreamFn = (options) =>
    createAzure({ ...options, baseUrl: "https://a.example" });
  const events = [chunk({ content: "x" }), chunk({}, "stop")];
  const usage = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };
  assertEquals((await read(create, events)).error?.code, "network_error");
  assertEquals((await read(create, toBody(...events) + DONE)).stopReason, "stop");
  assertEquals((await read(create, [...events, usage])).stopReason, "stop");
});

Deno.test("chat: an error without the member `error` is an error", async () => {
  for (
    const [event, end] of [
      [{ message: "Rate limit reached" }, "model_throttled: acme reported an error: Rate limit"],
      [{ detail: "Service unavailable" }, "network_error: acme reported an error: Service"],
      [{ type: "error", code: "invalid_api_key" }, "auth_error: acme reported an error"],
    ] as const
  ) {
    assertStringIncludes(summarizeEnd(await read(createChat, toBody(event) + DONE)), end);
  }
});

Deno.test("chat: finish reasons in upper case are recognized", async () => {
  const endWith = (reason: string) =>
    read(createChat, [chunk({ content: "x" }), chunk({}, reason)]);
  assertEquals(summarizeEnd(await endWith("MAX_TOKENS")), "length");
  assertEquals(summarizeEnd(await endWith("STOP")), "stop");
  const { warnings } = await endWith("STOP");
  assertEquals(warnings.filter(({ code }) => code === "unknown_stop_reason"), []);
  assertEquals((await endWith("SAFETY")).error?.code, "content_filtered");
  assertEquals((await endWith("abort")).error?.code, "network_error");
});

Deno.test("chat: an error line outside of the events is the error of the reply", async () => {
  for (
    const line of [
      'error: {"code":500,"message":"the model crashed","type":"server_error"}',
      '{"error":{"code":500,"message":"the model crashed"}}',
      "error: the model crashed",
    ]
  ) {
    const body = `${toBody(chunk({ content: "x" }))}${line}\n\n`;
    assertStringIncludes(summarizeEnd(await read(createChat, body)), "the model crashed");
  }
});

Deno.test("chat: plain text of a gateway is part of the network error, without the key", async () => {
  const body = "upstream connect error for key sk-test: connection termination\n";
  const reply = await read(createChat, body);
  assertEquals(
    summarizeEnd(reply),
    "network_error: acme: the stream ended before the reply was complete, with the text: " +
      "upstream connect error for key [redacted]: connection termination",
  );
});

Deno.test("chat: calls without ids and indexes are separate calls [B66]", async () => {
  const first = { function: { name: "read_file", arguments: '{"path":"a"}' } };
  const second = { function: { name: "read_file", arguments: '{"path":"b"}' } };
  const expected = [["read_file", { path: "a" }], ["read_file", { path: "b" }]];
  const withIndex = (fields: object) => ({ index: 0, ...fields });
  for (
    const deltas of [
      [[first, second]],
      [[first], [second]],
      [[withIndex(first), withIndex(second)]],
      [[withIndex(first)], [withIndex(second)]],
    ]
  ) {
    const chunks = deltas.map((tool_calls) => chunk({ tool_calls }));
    const reply = await read(createChat, [...chunks, chunk({}, "tool_calls")]);
    assertEquals(summarizeCalls(reply), expected, JSON.stringify(deltas));
  }
});

Deno.test("chat: calls of one index and one name are as many as their ids", async () => {
  const piece = (id: string, args: string) =>
    call({ index: 0, id, function: { name: "read_file", arguments: args } });
  const end = chunk({}, "tool_calls");
  const two = await read(createChat, [
    piece("1", ""),
    piece("2", '{"path":"b"}'),
    end,
  ]);
  assertEquals(summarizeCalls(two), [["read_file", {}], ["read_file", { path: "b" }]]);
  const one = await read(createChat, [piece("1", '{"a":[{}'), piece("1", ",{}]}"), end]);
  assertEquals(summarizeCalls(one), [["read_file", { a: [{}, {}] }]]);
});

Deno.test("chat: calls without ids whose arguments come later or not at all are separate calls", async () => {
  const chunks = [
    call({ function: { name: "list_all" } }),
    call({ function: { name: "read_file", arguments: "" } }),
    call({ function: { arguments: '{"path":"a"}' } }),
  ];
  const reply = await read(createChat, [...chunks, chunk({}, "tool_calls")]);
  assertEquals(summarizeCalls(reply), [["list_all", {}], ["read_file", { path: "a" }]]);
});

Deno.test("chat: calls whose indexes are texts are separate calls", async () => {
  const reply = await read(createChat, [
    call({ index: "0", id: "1", function: { name: "read_file", arguments: '{"path"' } }),
    call({ index: "1", id: "2", function: { name: "read_file", arguments: '{"path"' } }),
    call({ index: "0", function: { arguments: ':"a"}' } }),
    call({ index: "1", function: { arguments: ':"b"}' } }),
    chunk({}, "tool_calls"),
  ]);
  assertEquals(
    summarizeCalls(reply),
    [["read_file", { path: "a" }], ["read_file", { path: "b" }]],
  );
});

Deno.test("chat: a name that is repeated with each piece of the arguments is one call [B66]", async () => {
  const pieces = ['{"path"', ':{"a":{}', "}}"];
  for (const index of [0, undefined]) {
    const chunks = pieces.map((piece) =>
      call({ index, function: { name: "read_file", arguments: piece } })
    );
    const reply = await read(createChat, [...chunks, chunk({}, "tool_calls")]);
    assertEquals(summarizeCalls(reply), [["read_file", { path: { a: {} } }]]);
  }
});

Deno.test("chat: a new id with each piece of the arguments is one call, as vLLM sends a required tool", async () => {
  const piece = (id: string, args: string) =>
    call({ index: 0, id, function: { name: "read_file", arguments: args } });
  const end = chunk({}, "stop");
  const one = [piece("1", '{"path"'), piece("2", ':{"a":'), piece("3", "{}}"), piece("4", "}")];
  for (const chunks of [one, [...one, piece("5", "")]]) {
    const { calls } = await read(createChat, [...chunks, end]);
    assertEquals(calls.map(({ id, arguments: args }) => [id, args]), [["1", { path: { a: {} } }]]);
  }
  const two = await read(createChat, [piece("1", '{"path":"a"}'), piece("2", '{"path":"b"}'), end]);
  assertEquals(two.calls.map(({ id }) => id), ["1", "2"]);
});

Deno.test("chat: a complete call that is sent twice with one id is one call", async () => {
  for (const index of [0, undefined]) {
    for (const args of ['{"path":"a"}', { path: "a" }]) {
      const piece = { index, id: "1", function: { name: "read_file", arguments: args } };
      const other = { ...piece, index: index === undefined ? undefined : 1, id: "2" };
      const once = [call(piece), call(other)];
      const reply = await read(createChat, [...once, ...once, chunk({}, "tool_calls")]);
      const expected = ["read_file", { path: "a" }];
      assertEquals(summarizeCalls(reply), [expected, expected]);
      assertEquals(reply.calls.map(({ state }) => state), ["complete", "complete"]);
    }
  }
  const piece = (args: string) =>
    call({ index: 0, id: "1", function: { name: "read_file", arguments: args } });
  for (const args of ['{"path":"a"}', "{}"]) {
    const pieces = [args.slice(0, 1), args.slice(1), args, args].map(piece);
    const reply = await read(createChat, [...pieces, chunk({}, "tool_calls")]);
    assertEquals(summarizeCalls(reply), [["read_file", JSON.parse(args)]]);
    assertEquals(reply.calls.map(({ state }) => state), ["complete"]);
  }
});

Deno.test("chat: an error of a choice is the error of the reply", async () => {
  const error = { code: 429, message: "Upstream rate limit" };
  const reply = await read(createChat, [
    chunk({ content: "Yes." }),
    { choices: [{ index: 0, delta: { content: "" }, finish_reason: "error", error }] },
  ]);
  assertEquals(reply.text, "Yes.");
  assertEquals(
    summarizeEnd(reply),
    "model_throttled: acme reported an error: Upstream rate limit",
  );
});

Deno.test("chat: empty data between events is ignored", async () => {
  const events = [chunk({ content: "Yes." }), chunk({}, "stop")];
  const reply = await read(createChat, `data:\n\n${toBody(...events)}data: \n\ndata:  [DONE] \n\n`);
  assertEquals([reply.text, summarizeEnd(reply)], ["Yes.", "stop"]);
});

Deno.test("chat: a function_call is a tool call", async () => {
  const reply = await read(createChat, [
    chunk({ function_call: { name: "read_file", arguments: "" } }),
    chunk({ function_call: { arguments: '{"path":"a"}' } }),
    chunk({}, "function_call"),
  ]);
  assertEquals(summarizeCalls(reply), [["read_file", { path: "a" }]]);
  assertEquals(summarizeEnd(reply), "tool_use");
});

Deno.test("chat: a message in place of deltas is the reply, and after deltas a repetition", async () => {
  const message = { role: "assistant", content: "Yes." };
  const end = { choices: [{ index: 0, message, finish_reason: "stop" }] };
  assertEquals((await read(createChat, [end])).text, "Yes.");
  assertEquals((await read(createChat, [chunk({ content: "Yes." }), end])).text, "Yes.");
});

Deno.test("chat: the usage of a choice counts, as Moonshot sends it", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 4 };
  const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] };
  const { usage: counted } = await read(createChat, [chunk({ content: "Yes." }), end]);
  assertEquals([counted?.input, counted?.cacheRead, counted?.output], [6, 4, 2]);
});

Deno.test("createGoogle(): the audio tokens of the prompt are counted apart from those in the cache", async () => {
  const detail = (modality: string, tokenCount: number) => ({ modality, tokenCount });
  const { usage } = await read(createGoogle, [{
    candidates: [{ content: { parts: [{ text: "Yes." }] }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: 1000,
      cachedContentTokenCount: 600,
      promptTokensDetails: [detail("TEXT", 200), detail("AUDIO", 800)],
      cacheTokensDetails: [detail("AUDIO", 500), detail("TEXT", 100)],
    },
  }]);
  assertEquals([usage?.input, usage?.cacheRead], [400, 600]);
  assertEquals(usage?.extra, { audioInput: 300, audioCacheRead: 500 });
});

// Anthropic

const start = { type: "message_start", message: { usage: { input_tokens: 1 } } };
const toolUse = [
  {
    type: "content_block_start",
    index: 0,
    content_block: { type: "tool_use", id: "1", name: "read_file", input: { path: "a" } },
  },
  { type: "content_block_stop", index: 0 },
];
const stop = { type: "message_delta", delta: { stop_reason: "tool_use" } };

Deno.test("anthropic: a second message_start is a stream error, so that no call runs", async () => {
  const reply = await read(createAnthropic, [start, ...toolUse, start, ...toolUse, stop, {
    type: "message_stop",
  }]);
  assertEquals(
    summarizeEnd(reply),
    "stream_error: acme: a second message started within the reply",
  );
});

Deno.test("anthropic: starts without ids are those of different messages", async () => {
  for (const message of [{}, { id: "" }, { id: null }]) {
    const start = { type: "message_start", message };
    const { error } = await read(createAnthropic, [start, start, { type: "message_stop" }]);
    assertEquals(error?.message, "acme: a second message started within the reply");
  }
});

Deno.test("anthropic: a repeated message_start before the content is ignored", async () => {
  const first = { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 1 } } };
  const end = { type: "message_stop" };
  const reply = await read(createAnthropic, [first, first, ...toolUse, stop, end]);
  assertEquals(summarizeCalls(reply), [["read_file", { path: "a" }]]);
  const other = { type: "message_start", message: { id: "msg_2" } };
  const spliced = await read(createAnthropic, [first, other, ...toolUse, stop, end]);
  assertEquals(spliced.error?.code, "stream_error");
});

Deno.test("anthropic: [DONE] after the stop reason completes a reply, and before it is a network error", async () => {
  const text = toBody(start, ...toolUse);
  assertEquals(summarizeEnd(await read(createAnthropic, text + toBody(stop) + DONE)), "tool_use");
  assertEquals(
    summarizeEnd(await read(createAnthropic, text + DONE)),
    "network_error: acme: the reply ended without a stop reason",
  );
});

Deno.test("anthropic: an error without a type and an error line are errors", async () => {
  const error = { error: { type: "overloaded_error", message: "Overloaded" } };
  for (const body of [toBody(start, error), `${toBody(start)}${JSON.stringify(error)}\n\n`]) {
    assertStringIncludes(summarizeEnd(await read(createAnthropic, body)), "network_error: acme");
  }
});

// All providers

const anthropicCall = (input: unknown, stop_reason = "tool_use") => [
  { type: "message_start", message: { id: "m", usage: {} } },
  {
    type: "content_block_start",
    index: 0,
    content_block: { type: "tool_use", id: "1", name: "read_file", input },
  },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason }, usage: {} },
  { type: "message_stop" },
];
const responsesCall = (args: unknown) => {
  const item = { type: "function_call", call_id: "1", name: "read_file", arguments: args };
  return [{ type: "response.completed", response: { status: "completed", output: [item] } }];
};
const googleCall = (args: unknown, finishReason = "STOP") => [{
  candidates: [{
    content: { parts: [{ functionCall: { name: "read_file", args } }] },
    finishReason,
  }],
}];
const ollamaCall = (args: unknown, done_reason = "stop") =>
  JSON.stringify({
    message: { tool_calls: [{ function: { name: "read_file", arguments: args } }] },
    done: true,
    done_reason,
  });

Deno.test("all providers: arguments are never replaced by an empty object", async () => {
  const create = { createAnthropic, createResponses, createGoogle, createOllama };
  const readArguments = async (value: unknown) => {
    const replies = await Promise.all([
      read(create.createAnthropic, anthropicCall(value)),
      read(create.createResponses, responsesCall(value)),
      read(create.createGoogle, googleCall(value)),
      read(create.createOllama, ollamaCall(value)),
    ]);
    return replies.map(({ calls: [only] }) => [only?.state, only?.arguments] as const);
  };
  const complete = ["complete", { path: "a" }] as const;
  for (const value of [{ path: "a" }, '{"path":"a"}']) {
    assertEquals(await readArguments(value), Array(4).fill(complete));
  }
  for (const value of [["a"], "a"]) {
    assertEquals((await readArguments(value)).map(([state]) => state), Array(4).fill("invalid"));
  }
});

Deno.test("all providers: stop reasons in any case are recognized", async () => {
  const ends = await Promise.all([
    read(createAnthropic, anthropicCall({ path: "a" }, "MAX_TOKENS")),
    read(createGoogle, googleCall({ path: "a" }, "max_tokens")),
    read(createOllama, ollamaCall({ path: "a" }, "LENGTH")),
  ]);
  assertEquals(ends.map(summarizeEnd), ["length", "length", "length"]);
});

Deno.test("all providers: the error of an event in an unexpected form shows the event", async () => {
  for (const create of [createAnthropic, createChat, createResponses, createGoogle]) {
    assertEquals(
      summarizeEnd(await read(create, "data: null\n\n")),
      "stream_error: Cannot read the reply of acme: unexpected form, in the event null",
    );
  }
  const long = summarizeEnd(await read(createChat, [chunk({ tool_calls: "x".repeat(1000) })]));
  assertMatch(long, /, in the event \{"choices".{180,200}…$/);
});

Deno.test("all providers: an invalid option of the request is named before anything is sent", async () => {
  for (const create of [createAnthropic, createChat, createResponses, createGoogle, createOllama]) {
    const fetch = replayFetch("");
    const request = createMinimalRequest("acme", "m");
    const options = { ...request.options, temperature: NaN };
    const reply = await readReply(create({ fetch })({ ...request, options }));
    assertEquals(
      summarizeEnd(reply),
      "bad_request: streamOptions.temperature must be a number, not NaN",
    );
    assertEquals(fetch.requests, []);
  }
});

// Replies that are none

Deno.test("ollama: an answer that only loaded or unloaded the model is an error", async () => {
  for (const done_reason of ["load", "unload", "LOAD"]) {
    const line = JSON.stringify({ message: { content: "" }, done: true, done_reason });
    assertEquals(
      summarizeEnd(await read(createOllama, `${line}\n`)),
      `stream_error: acme ended without a reply (${done_reason.toLowerCase()})`,
    );
  }
});

Deno.test("responses: a status that is not final is a network error, and missing statuses are those of the event", async () => {
  const end = async (type: string, response: object) =>
    summarizeEnd(await read(createResponses, [{ type: `response.${type}`, response }]));
  for (const status of ["in_progress", "queued", "cancelled"]) {
    assertEquals(
      await end("completed", { status }),
      `network_error: acme: the reply ended with the status ${status}`,
    );
  }
  assertEquals(await end("completed", {}), "stop");
  assertEquals(await end("incomplete", {}), "length");
  assertStringIncludes(await end("failed", {}), "stream_error: acme reported an error");
});

Deno.test("createOllama(): a model that does not fit into the memory is not called again", async () => {
  const error = "model requires more system memory (9.2 GiB) than is available (4.1 GiB)";
  const reply = await read(createOllama, { status: 500, body: JSON.stringify({ error }) });
  assertEquals([reply.error?.code, reply.error?.retryable], ["bad_request", false]);
});
