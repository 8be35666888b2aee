import { assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createOllama } from "../../adapters/ollama/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { createMinimalRequest } from "./wire_tests.ts";

type CreateStreamFn = (options: { fetch: typeof globalThis.fetch }) => StreamFn;
type Call = readonly [name: string, path: string];

const createChat: CreateStreamFn = (options) => createOpenAI({ ...options, api: "chat" });
const createResponses: CreateStreamFn = (options) => createOpenAI({ ...options, api: "responses" });

const tools = ["read_file", "list_all"].map((name) =>
  ({ name, description: "", parameters: { type: "object" } }) as const
);

async function readCalls(
  create: CreateStreamFn,
  events: readonly object[],
): Promise<readonly Call[]> {
  const prefix = create === createOllama ? "" : "data: ";
  const body = events.map((event) => `${prefix}${JSON.stringify(event)}\n\n`).join("");
  const request = createMinimalRequest("acme", "m");
  const context = { ...request.context, tools };
  const { calls } = await readReply(create({ fetch: replayFetch(body) })({ ...request, context }));
  return calls.map(({ name, arguments: args }) => [name, String(args["path"])]);
}

const toArgs = (path: string) => JSON.stringify({ path });

const chatPieces = (calls: readonly Call[], fields: object) =>
  calls.map(([name, path]) => ({
    tool_calls: [{ ...fields, id: "same", function: { name, arguments: toArgs(path) } }],
  }));
const toChat = (deltas: readonly object[]) => [
  ...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
];

const toItems = (calls: readonly Call[]) =>
  calls.map(([name, path], index) => ({
    output_index: index,
    item: {
      type: "function_call",
      id: `fc_${index}`,
      call_id: "same",
      name,
      arguments: toArgs(path),
    },
  }));
const ITEM = "response.output_item";
const END = { type: "response.completed", response: { status: "completed" } };

const googlePart = ([name, path]: Call) => ({
  functionCall: { id: "same", name, args: { path } },
});
const googleChunk = (parts: readonly object[]) => ({
  candidates: [{ content: { parts }, finishReason: "STOP" }],
});

/** Streams in which two calls have the same id. */
const STREAMS: Readonly<
  Record<string, (calls: readonly Call[]) => readonly [CreateStreamFn, readonly object[]]>
> = {
  "chat, different indexes": (calls) => [
    createChat,
    toChat(calls.flatMap((call, index) => chatPieces([call], { index }))),
  ],
  "chat, one index": (calls) => [createChat, toChat(chatPieces(calls, { index: 0 }))],
  "chat, no index": (calls) => [createChat, toChat(chatPieces(calls, {}))],
  "responses, item by item": (calls) => [createResponses, [
    ...toItems(calls).flatMap(({ item, ...position }) => [
      { type: `${ITEM}.added`, ...position, item: { ...item, arguments: "" } },
      { type: `${ITEM}.done`, ...position, item },
    ]),
    END,
  ]],
  "responses, all starts first": (calls) => [createResponses, [
    ...toItems(calls).map(({ item, ...position }) => (
      { type: `${ITEM}.added`, ...position, item: { ...item, arguments: "" } }
    )),
    ...toItems(calls).map((item) => ({ type: `${ITEM}.done`, ...item })),
    END,
  ]],
  "google, one chunk": (calls) => [createGoogle, [googleChunk(calls.map(googlePart))]],
  "ollama": (calls) => [createOllama, [
    {
      message: {
        tool_calls: calls.map(([name, path]) => ({
          id: "same",
          function: { name, arguments: { path } },
        })),
      },
    },
    { done: true, done_reason: "stop" },
  ]],
  "anthropic": (calls) => [createAnthropic, [
    { type: "message_start", message: { id: "m" } },
    ...calls.flatMap(([name, path], index) => [
      {
        type: "content_block_start",
        index,
        content_block: { type: "tool_use", id: "same", name, input: {} },
      },
      {
        type: "content_block_delta",
        index,
        delta: { type: "input_json_delta", partial_json: toArgs(path) },
      },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
    { type: "message_stop" },
  ]],
};

for (const [name, createStream] of Object.entries(STREAMS)) {
  Deno.test(`${name}: calls with the same id are separate calls`, async () => {
    for (const second of [["list_all", "b"], ["list_all", "a"], ["read_file", "b"]] as const) {
      const calls = [["read_file", "a"], second] as const;
      assertEquals(await readCalls(...createStream(calls)), calls);
    }
  });
}

Deno.test("createGoogle(): a call in a later chunk with the id of another tool is a separate call", async () => {
  const calls = [["read_file", "a"], ["list_all", "b"]] as const;
  const chunks = calls.map((call) => googleChunk([googlePart(call)]));
  assertEquals(await readCalls(createGoogle, chunks), calls);
});
