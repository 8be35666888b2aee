import { assertEquals } from "@std/assert";
import type { CollectedReply } from "../../src/testing/read_reply.ts";
import { createTestProxy, HANDMADE_APIS, readHandmade } from "./handmade_streams.ts";

function read(api: string, events: readonly object[]): Promise<CollectedReply> {
  const found = HANDMADE_APIS.find(({ name }) => name === api);
  if (!found) throw new Error(`No API ${api}`);
  return readHandmade(found, events);
}

function summarizeCalls({ calls, error, stopReason }: CollectedReply): unknown[] {
  return [...calls.map(({ name, arguments: args }) => [name, args]), error?.code ?? stopReason];
}

const CALL = { name: "read_file", id: "1", call_id: "1" };

Deno.test("createAnthropic(): blocks without an end are complete at the end of the reply", async () => {
  const citation = { type: "page_location", cited_text: "42", document_index: 0 };
  const thinking = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
  const start = (index: number, content_block: object) => ({
    type: "content_block_start",
    index,
    content_block,
  });
  const reply = await read("anthropic", [
    { type: "message_start", message: { id: "m" } },
    start(0, thinking),
    start(1, { type: "text", text: "42", citations: [citation] }),
    start(2, { type: "tool_use", ...CALL, input: { path: "a" } }),
    start(2, { type: "tool_use", ...CALL, id: "2", input: { path: "b" } }),
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
    { type: "message_stop" },
  ]);
  assertEquals(summarizeCalls(reply), [
    ["read_file", { path: "a" }],
    ["read_file", { path: "b" }],
    "tool_use",
  ]);
  const [thought, text] = reply.content;
  assertEquals(thought?.type === "thinking" && thought.signature, "c2ln");
  assertEquals(text?.type === "text" && text.citations?.length, 1);
});

Deno.test("createAnthropic(): a call that the token limit cut off stays open", async () => {
  const content_block = { type: "tool_use", ...CALL, input: {} };
  const { calls } = await read("anthropic", [
    { type: "message_start", message: { id: "m" } },
    { type: "content_block_start", index: 0, content_block },
    { type: "message_delta", delta: { stop_reason: "max_tokens" } },
    { type: "message_stop" },
  ]);
  assertEquals(calls.map(({ state }) => state), ["truncated"]);
});

Deno.test("createAnthropic(), createBedrock(): the last call without arguments stays open at the token limit, although its block has ended", async () => {
  const content_block = { type: "tool_use", ...CALL, input: {} };
  const readAnthropic = (stop_reason: string) =>
    read("anthropic", [
      { type: "message_start", message: { id: "m" } },
      ...[0, 1].flatMap((index) => [
        { type: "content_block_start", index, content_block },
        {
          type: "content_block_delta",
          index,
          delta: { type: "input_json_delta", partial_json: "" },
        },
        { type: "content_block_stop", index },
      ]),
      { type: "message_delta", delta: { stop_reason } },
      { type: "message_stop" },
    ]);
  const start = { toolUse: { toolUseId: "1", name: "read_file" } };
  const readBedrock = (stopReason: string) =>
    read("bedrock", [
      ...[0, 1].flatMap((contentBlockIndex) => [
        { contentBlockStart: { contentBlockIndex, start } },
        { contentBlockStop: { contentBlockIndex } },
      ]),
      { messageStop: { stopReason } },
    ]);
  for (const readWith of [readAnthropic, readBedrock]) {
    const cut = await readWith("max_tokens");
    assertEquals(cut.calls.map(({ state }) => state), ["complete", "truncated"]);
    const complete = await readWith("tool_use");
    assertEquals(complete.calls.map(({ state }) => state), ["complete", "complete"]);
  }
});

Deno.test("createAnthropic(), createBedrock(): input without the index of a block is that of the open call, which never runs without it", async () => {
  const content_block = { type: "tool_use", ...CALL, input: {} };
  const json = '{"path":"a"}';
  const start = { toolUse: { toolUseId: "1", name: "read_file" } };
  for (const other of [undefined, 7]) {
    const anthropic = await read("anthropic", [
      { type: "message_start", message: { id: "m" } },
      { type: "content_block_start", index: 0, content_block },
      {
        type: "content_block_delta",
        index: other,
        delta: { type: "input_json_delta", partial_json: json },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ]);
    const bedrock = await read("bedrock", [
      { contentBlockStart: { contentBlockIndex: 0, start } },
      { contentBlockDelta: { contentBlockIndex: other, delta: { toolUse: { input: json } } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      { messageStop: { stopReason: "tool_use" } },
    ]);
    for (const { calls } of [anthropic, bedrock]) {
      assertEquals(calls.map(({ arguments: args }) => args), [{ path: "a" }]);
    }
  }
});

Deno.test("createAnthropic(), createBedrock(): a refusal is no error of the item that it cut off", async () => {
  const item = { type: "server_tool_use", ...CALL, input: {} };
  const json = { type: "input_json_delta", partial_json: '{"q' };
  const anthropic = await read("anthropic", [
    { type: "message_start", message: { id: "m" } },
    { type: "content_block_start", index: 0, content_block: item },
    { type: "content_block_delta", index: 0, delta: json },
    { type: "message_delta", delta: { stop_reason: "refusal" } },
    { type: "message_stop" },
  ]);
  assertEquals(anthropic.error?.code, "content_filtered");
  const toolUse = { toolUseId: "1", name: "search", type: "server_tool_use" };
  const bedrock = await read("bedrock", [
    { contentBlockStart: { contentBlockIndex: 0, start: { toolUse } } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{"q' } } } },
    { messageStop: { stopReason: "guardrail_intervened" } },
    { metadata: { usage: {} } },
  ]);
  assertEquals(bedrock.error?.code, "content_filtered");
});

Deno.test("createBedrock(): blocks without an end are complete at the end of the reply", async () => {
  const reasoning = { reasoningContent: { text: "Hm.", signature: "c2ln" } };
  const toolUse = { toolUseId: "1", name: "search", type: "server_tool_use" };
  const { content } = await read("bedrock", [
    { contentBlockDelta: { contentBlockIndex: 0, delta: reasoning } },
    { contentBlockStart: { contentBlockIndex: 1, start: { toolUse } } },
    { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '{"q":1}' } } } },
    { messageStop: { stopReason: "end_turn" } },
    { metadata: { usage: {} } },
  ]);
  assertEquals(content, [
    { type: "thinking", thinking: "Hm.", signature: "c2ln" },
    {
      type: "extension",
      typeName: "bedrock.tool_use",
      data: { toolUse: { ...toolUse, input: { q: 1 } } },
    },
  ]);
});

Deno.test("createBedrock(): thinking and text without an end are complete when another block follows", async () => {
  const delta = (contentBlockIndex: number, value: object) => ({
    contentBlockDelta: { contentBlockIndex, delta: value },
  });
  const citation = { title: "Deno", location: { web: { url: "https://deno.com" } } };
  const { content } = await read("bedrock", [
    delta(0, { reasoningContent: { text: "Hm." } }),
    delta(0, { reasoningContent: { signature: "c2ln" } }),
    delta(1, { text: "Deno" }),
    delta(1, { citation }),
    delta(2, { text: "Node" }),
    { messageStop: { stopReason: "end_turn" } },
    { metadata: { usage: {} } },
  ]);
  const source = { type: "url", url: "https://deno.com", title: "Deno", data: citation } as const;
  assertEquals(content, [
    { type: "thinking", thinking: "Hm.", signature: "c2ln" },
    { type: "text", text: "Deno", citations: [source] },
    { type: "text", text: "Node" },
  ]);
});

Deno.test("responses: arguments that come only with the start of a call, or with the response, are those of the call", async () => {
  const item = { type: "function_call", ...CALL, arguments: '{"path":"a"}' };
  const added = (fields: object) => ({
    type: "response.output_item.added",
    output_index: 0,
    item: { ...item, ...fields },
  });
  const done = { type: "response.output_item.done", output_index: 1, item: { type: "news" } };
  const completed = (output: readonly object[]) => ({
    type: "response.completed",
    response: { status: "completed", output },
  });
  const expected = [["read_file", { path: "a" }], "tool_use"];
  const early = await read("openai responses", [added({}), done, completed([])]);
  assertEquals(summarizeCalls(early), expected);
  const late = await read("openai responses", [added({ arguments: "" }), done, completed([item])]);
  assertEquals(summarizeCalls(late), expected);
  const missing = { type: "response.output_item.done", output_index: 0 };
  const only = await read("openai responses", [missing, completed([item])]);
  assertEquals(summarizeCalls(only), expected);
});

Deno.test("google: a call without a name is a call, which no tool answers", async () => {
  const parts = [{ functionCall: { args: { path: "a" } } }];
  const reply = await read("google", [{
    candidates: [{ content: { parts }, finishReason: "STOP" }],
  }]);
  assertEquals(summarizeCalls(reply), [["", { path: "a" }], "tool_use"]);
});

Deno.test("chat: an error in x_groq is the error of the reply", async () => {
  const { error } = await read("openai", [
    { choices: [{ delta: { content: "x" } }] },
    { choices: [{ delta: {}, finish_reason: "stop" }], x_groq: { error: "over capacity" } },
  ]);
  assertEquals(error?.message, "acme reported an error: over capacity");
});

Deno.test("createProxy(): citations and ids of other types are errors", async () => {
  const encode = (events: readonly object[]) =>
    events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const readEnd = async (end: object, done: object) => {
    const text = [{ type: "text_start", contentIndex: 0 }, {
      type: "text_end",
      contentIndex: 0,
      ...end,
    }];
    const last = { type: "done", stopReason: "stop", usage: {}, ...done };
    const events = [{ type: "start" }, ...text, last];
    const { error } = await readHandmade({ createStreamFn: createTestProxy, encode }, events);
    return error?.message;
  };
  const url = { type: "url", url: "https://deno.com" };
  const page = { type: "document", title: "Report", range: { unit: "pages", start: 1, end: 2 } };
  assertEquals(await readEnd({ citations: [url, page] }, { responseId: "r" }), undefined);
  for (const citations of [5, ["x"], [{ type: "url" }], [{ type: "news" }]]) {
    const message = await readEnd({ citations }, {});
    assertEquals(message?.startsWith("proxy: Invalid event: text_end.citations"), true, message);
  }
  assertEquals(
    await readEnd({}, { responseId: 5 }),
    "proxy: Invalid event: done.responseId must be a string",
  );
});
