import { assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { createMinimalRequest } from "./wire_tests.ts";

/** Reads the calls of a reply: names, arguments and whether these are complete. */
async function readCalls(
  create: (options: { fetch: typeof globalThis.fetch }) => StreamFn,
  events: readonly object[],
): Promise<unknown[]> {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const streamFn = create({ fetch: replayFetch(body) });
  const { calls } = await readReply(streamFn(createMinimalRequest("acme", "m")));
  return calls.map(({ name, arguments: args, state }) => [name, args, state]);
}

Deno.test("chat: an empty input before the arguments of a call is not a part of them", async () => {
  const piece = (fields: object) => ({
    choices: [{ index: 0, delta: { tool_calls: [fields] } }],
  });
  const start = (index: number, name: string) =>
    piece({ index, id: `call_${index}`, function: { name, arguments: "{}" } });
  const calls = await readCalls((options) => createOpenAI({ ...options, api: "chat" }), [
    start(0, "read_file"),
    piece({ index: 0, function: { arguments: '{"path":' } }),
    piece({ index: 0, function: { arguments: '"a"}' } }),
    start(1, "list_all"),
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  ]);
  assertEquals(calls, [["read_file", { path: "a" }, "complete"], ["list_all", {}, "complete"]]);
});

Deno.test("chat: a call with an empty input and the next call of the same tool at its index are separate", async () => {
  const call = (id: string, args: string) => ({
    index: 0,
    id,
    function: { name: "list_all", arguments: args },
  });
  const toChunk = (tool_calls: readonly object[]) => ({
    choices: [{ index: 0, delta: { tool_calls } }],
  });
  const end = { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] };
  const read = (events: readonly object[]) =>
    readCalls((options) => createOpenAI({ ...options, api: "chat" }), [...events, end]);
  for (const args of ["{}", '{"path":"a"}']) {
    const expected = ["{}", args].map((json) => ["list_all", JSON.parse(json), "complete"]);
    const calls = [call("1", "{}"), call("2", args)];
    const parts = [call("1", "{}"), call("2", ""), { index: 0, function: { arguments: args } }];
    for (const pieces of [calls, parts]) {
      assertEquals(await read(pieces.map((piece) => toChunk([piece]))), expected);
    }
    assertEquals(await read([toChunk(calls)]), expected, "one chunk");
  }
});

Deno.test("anthropic: an empty input before the input of a call is not a part of it", async () => {
  const start = { type: "tool_use", id: "1", name: "read_file", input: {} };
  const delta = (json: string) => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "input_json_delta", partial_json: json },
  });
  for (const input of [{}, { path: "a" }]) {
    const json = JSON.stringify(input);
    const calls = await readCalls(createAnthropic, [
      { type: "message_start", message: { id: "m" } },
      { type: "content_block_start", index: 0, content_block: start },
      ...["{}", json.slice(0, 4), json.slice(4)].map(delta),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ]);
    assertEquals(calls, [["read_file", input, "complete"]]);
  }
});
