import { assertEquals } from "@std/assert";
import type { CollectedReply } from "../../src/testing/read_reply.ts";
import { HANDMADE_APIS, readHandmade } from "./handmade_streams.ts";

function read(api: string, events: readonly object[]): Promise<CollectedReply> {
  const found = HANDMADE_APIS.find(({ name }) => name === api);
  if (!found) throw new Error(`No API ${api}`);
  return readHandmade(found, events);
}

const created = (id?: unknown) => ({ type: "response.created", response: { id } });
const call = {
  type: "response.output_item.done",
  output_index: 0,
  item: { type: "function_call", call_id: "c", name: "read_file", arguments: '{"path":"a"}' },
};
const completed = { type: "response.completed", response: { id: "r", status: "completed" } };

Deno.test("responses: a second response within the stream is a stream error, so that no call runs", async () => {
  for (const [first, second] of [["a", "b"], [undefined, undefined], ["a", ""], ["a", 5]]) {
    const reply = await read("openai responses", [
      created(first),
      call,
      created(second),
      call,
      completed,
    ]);
    assertEquals(reply.error?.code, "stream_error", `${first}, ${second}`);
    assertEquals(reply.error?.message.includes("a second response started"), true);
  }
});

Deno.test("responses: the start of a response may be repeated, and be missing", async () => {
  const streams = [
    [created("a"), call, created("a"), completed],
    [created("a"), created("b"), call, completed],
    [created(), call, completed],
    [{ type: "response.created", response: 5 }, call, completed],
    [call, completed],
  ];
  for (const events of streams) {
    const reply = await read("openai responses", events);
    assertEquals([reply.error, reply.calls.length], [undefined, 1]);
  }
});

const messageStart = { messageStart: { role: "assistant" } };
const toolUse = [
  {
    contentBlockStart: {
      contentBlockIndex: 0,
      start: { toolUse: { toolUseId: "c", name: "read_file" } },
    },
  },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{"path":"a"}' } } } },
  { contentBlockStop: { contentBlockIndex: 0 } },
];
const end = [{ messageStop: { stopReason: "tool_use" } }, { metadata: { usage: {} } }];

Deno.test("bedrock: a second message within the stream is a stream error, so that no call runs", async () => {
  const reply = await read("bedrock", [
    messageStart,
    ...toolUse,
    messageStart,
    ...toolUse,
    ...end,
  ]);
  assertEquals(reply.error?.code, "stream_error");
  assertEquals(reply.error?.message.includes("a second message started"), true);
  const repeated = await read("bedrock", [messageStart, messageStart, ...toolUse, ...end]);
  assertEquals([repeated.error, repeated.calls.length], [undefined, 1]);
});

Deno.test("bedrock: content after the end of a message is a stream error, so that no call runs twice", async () => {
  const [stop = {}] = end;
  for (const second of [toolUse, toolUse.slice(1)]) {
    const reply = await read("bedrock", [...toolUse, stop, ...second, ...end]);
    assertEquals(reply.error?.code, "stream_error");
  }
});

const functionCall = (responseId?: string, finishReason?: string) => ({
  responseId,
  candidates: [{
    content: { parts: [{ functionCall: { name: "read_file", args: { path: "a" } } }] },
    finishReason,
  }],
});

Deno.test("google: another response after the end of the first is a stream error, so that no call runs", async () => {
  const reply = await read("google", [functionCall("a", "STOP"), functionCall("b", "STOP")]);
  assertEquals(reply.error?.code, "stream_error");
  assertEquals(reply.error?.message.includes("a second response started"), true);
});

Deno.test("google: chunks of one response may all have a finish reason, and chunks before it other ids", async () => {
  const streams = [
    [functionCall("a", "STOP"), functionCall("a", "STOP")],
    [functionCall("a", "STOP"), functionCall(undefined, "STOP")],
    [functionCall("a"), functionCall("b", "STOP")],
  ];
  for (const events of streams) {
    const reply = await read("google", events);
    assertEquals([reply.error, reply.calls.length], [undefined, 2]);
  }
});

Deno.test("google: chunks without content after the end may have other ids", async () => {
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2 };
  const empty = { content: { parts: [{ text: "" }] }, finishReason: "STOP" };
  const chunks = [
    { responseId: "b", usageMetadata },
    { responseId: "b", usageMetadata, candidates: [{ finishReason: "STOP" }] },
    { responseId: "b", usageMetadata, candidates: [empty] },
  ];
  for (const chunk of chunks) {
    const reply = await read("google", [functionCall("a", "STOP"), chunk]);
    assertEquals([reply.error, reply.calls.length, reply.usage?.input], [undefined, 1, 3]);
    const spliced = [functionCall("a", "STOP"), chunk, functionCall("b", "STOP")];
    assertEquals((await read("google", spliced)).error?.code, "stream_error");
  }
});

const chunk = (id: string | undefined, delta: object, finish_reason: string | null = null) => ({
  id,
  choices: [{ index: 0, delta, finish_reason }],
});
const chatCall = (id: string | undefined, callId: string) =>
  chunk(id, {
    tool_calls: [{
      index: 0,
      id: callId,
      function: { name: "read_file", arguments: '{"path":"a"}' },
    }],
  });

Deno.test("chat: another response after the end of the first is a stream error, so that no call runs", async () => {
  const response = (id: string) => [chatCall(id, `call_${id}`), chunk(id, {}, "tool_calls")];
  const texts = [chunk("a", { content: "Yes" }, "stop"), chunk("b", { content: "Yes" }, "stop")];
  const start = (id: string) => chunk(id, { role: "assistant", content: "" });
  const starts = [start("a"), ...response("a"), start("b"), ...response("b")];
  for (const events of [[...response("a"), ...response("b")], texts, starts]) {
    const reply = await read("openai", events);
    assertEquals(reply.error?.code, "stream_error");
    assertEquals(reply.error?.message.includes("a second response started"), true);
  }
});

Deno.test("chat: chunks before the end may have other ids, and so may those without content after it", async () => {
  const usage = { id: "c", choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };
  const streams = [
    [chatCall("a", "1"), chunk("b", {}, "tool_calls"), usage, chunk("d", { content: "" })],
    [chatCall("a", "1"), chunk("a", {}, "tool_calls"), chatCall("a", "1")],
    [chatCall(undefined, "1"), chunk(undefined, {}, "tool_calls"), chatCall("a", "1")],
  ];
  for (const events of streams) {
    const reply = await read("openai", events);
    assertEquals([reply.error, reply.calls.length], [undefined, 1]);
  }
});
