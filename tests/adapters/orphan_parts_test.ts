import { assertEquals } from "@std/assert";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { CollectedReply } from "../../src/testing/read_reply.ts";
import { HANDMADE_APIS, readHandmade } from "./handmade_streams.ts";

function read(api: string, events: readonly object[]): Promise<CollectedReply> {
  const found = HANDMADE_APIS.find(({ name }) => name === api);
  if (!found) throw new Error(`No API ${api}`);
  return readHandmade(found, events);
}

function readAnthropic(events: readonly object[], stop_reason = "end_turn") {
  return read("anthropic", [
    { type: "message_start", message: { id: "m" } },
    ...events,
    { type: "message_delta", delta: { stop_reason } },
    { type: "message_stop" },
  ]);
}

function readBedrock(events: readonly object[], stopReason = "end_turn") {
  return read("bedrock", [...events, { messageStop: { stopReason } }, { metadata: { usage: {} } }]);
}

function readResponses(events: readonly object[], response: object = {}) {
  const completed = {
    type: "response.completed",
    response: { id: "r", status: "completed", ...response },
  };
  return read("openai responses", [...events, completed]);
}

function getUnknownParts({ warnings, error }: CollectedReply): string[] {
  assertEquals(error, undefined);
  return warnings.filter(({ code }) => code === "unknown_part").map(({ message }) => message);
}

const ORPHAN = "The reply has a delta without its block";

Deno.test("createAnthropic(): a delta without its block, or after its end, is reported", async () => {
  const deltas = [
    { type: "input_json_delta", partial_json: '{"path":"a"}' },
    { type: "signature_delta", signature: "c2ln" },
    { type: "citations_delta", citation: { type: "page_location" } },
    { type: "compaction_delta", content: "…" },
  ];
  const expected = deltas.map(({ type }) => `${ORPHAN}: ${type}`);
  const events = deltas.map((delta) => ({ type: "content_block_delta", index: 3, delta }));
  assertEquals(getUnknownParts(await readAnthropic(events)), expected);
  const item = { type: "server_tool_use", id: "1", name: "web_search", input: {} };
  const ended = [
    { type: "content_block_start", index: 3, content_block: item },
    { type: "content_block_stop", index: 3 },
  ];
  assertEquals(getUnknownParts(await readAnthropic([...ended, ...events])), expected);
  const empty = { type: "input_json_delta", partial_json: "" };
  const nothing = [{ type: "content_block_delta", index: 3, delta: empty }];
  assertEquals(getUnknownParts(await readAnthropic(nothing)), []);
});

Deno.test("createBedrock(): a delta without its block is reported", async () => {
  const delta = (value: object) => ({ contentBlockDelta: { contentBlockIndex: 3, delta: value } });
  const reply = await readBedrock([
    delta({ toolUse: { input: "" } }),
    delta({ toolUse: { input: '{"path":"a"}' } }),
    delta({ toolResult: [{ text: "42" }] }),
    delta({ image: { source: { bytes: "AAAA" } } }),
  ]);
  assertEquals(getUnknownParts(reply), [
    `${ORPHAN}: toolUse`,
    `${ORPHAN}: toolResult`,
    `${ORPHAN}: image`,
  ]);
});

Deno.test("responses: arguments without a call are reported, unless the call follows", async () => {
  const index = { output_index: 1 };
  const delta = { type: "response.function_call_arguments.delta", ...index, delta: "{" };
  const lost = await readResponses([delta]);
  assertEquals(getUnknownParts(lost), [`${ORPHAN}: function_call_arguments`]);
  const item = { type: "function_call", call_id: "1", name: "read_file", arguments: "{}" };
  const found = await readResponses([
    delta,
    { type: "response.output_item.done", ...index, item },
  ]);
  assertEquals([getUnknownParts(found), found.calls.length], [[], 1]);
});

Deno.test("responses: a call that only the end of the response contains is read once", async () => {
  const message = { type: "message", content: [{ type: "output_text", text: "Let me look." }] };
  const call = { type: "function_call", call_id: "1", name: "read_file", arguments: "{}" };
  const done = (output_index: number, item: object) => ({
    type: "response.output_item.done",
    output_index,
    item,
  });
  const late = await readResponses([done(0, message)], { output: [message, call] });
  const twice = await readResponses([done(0, message), done(0, call)], { output: [message, call] });
  for (const { text, calls, stopReason } of [late, twice]) {
    assertEquals([text, calls.length, stopReason], ["Let me look.", 1, "tool_use"]);
  }
});

Deno.test("createGoogle(): parts of arguments without a call are reported", async () => {
  const partialArgs = [{ jsonPath: "$.path", stringValue: "a" }];
  const calls = [{ functionCall: { partialArgs, willContinue: true } }, { functionCall: {} }];
  const parts = [{ text: "Yes." }, ...calls];
  const reply = await read("google", [
    { candidates: [{ content: { parts }, finishReason: "STOP" }] },
  ]);
  assertEquals(getUnknownParts(reply), [`${ORPHAN}: partialArgs`]);
});

Deno.test("createAnthropic(), createBedrock(): a server tool whose input was cut off is reported", async () => {
  const item = { type: "server_tool_use", id: "1", name: "web_search", input: {} };
  const json = { type: "input_json_delta", partial_json: '{"query":"De' };
  const anthropic = await readAnthropic([
    { type: "content_block_start", index: 0, content_block: item },
    { type: "content_block_delta", index: 0, delta: json },
    { type: "content_block_stop", index: 0 },
  ], "max_tokens");
  const toolUse = { toolUseId: "1", name: "search", type: "server_tool_use" };
  const bedrock = await readBedrock([
    { contentBlockStart: { contentBlockIndex: 0, start: { toolUse } } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{"q' } } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
  ], "max_tokens");
  for (const reply of [anthropic, bedrock]) {
    assertEquals(getUnknownParts(reply), ["The reply has an incomplete item: server_tool_use"]);
    assertEquals([reply.content, reply.stopReason], [[], "length"]);
  }
});

Deno.test("adapters: citations after the end of their text are in an empty text", async () => {
  const call = { function: { name: "read_file", arguments: "{}" }, id: "1", index: 0 };
  const chat = await read("openai", [
    { choices: [{ delta: { content: "Deno." } }] },
    { choices: [{ delta: { tool_calls: [call] } }] },
    { choices: [{ delta: {}, finish_reason: "tool_calls" }], citations: ["https://deno.com"] },
  ]);
  const parts = [{ text: "Deno." }, { functionCall: { name: "read_file", args: {} } }];
  const groundingMetadata = { groundingChunks: [{ web: { uri: "https://deno.com" } }] };
  const google = await read("google", [
    { candidates: [{ content: { parts } }] },
    { candidates: [{ finishReason: "STOP", groundingMetadata }] },
  ]);
  const annotation = { type: "url_citation", url: "https://deno.com" };
  const responses = await readResponses([
    { type: "response.output_text.delta", output_index: 0, delta: "Deno." },
    {
      type: "response.output_item.done",
      output_index: 1,
      item: { type: "function_call", call_id: "1", name: "read_file", arguments: "{}" },
    },
    { type: "response.output_text.annotation.added", output_index: 0, annotation },
  ]);
  for (const { content, stopReason } of [chat, google, responses]) {
    assertEquals(content.filter(({ type }) => type === "text").map(summarizeText), [
      "Deno.",
      "(https://deno.com)",
    ]);
    assertEquals(stopReason, "tool_use");
  }
});

function summarizeText(block: ContentBlock): string {
  if (block.type !== "text") return "";
  const urls = (block.citations ?? []).map((citation) => `(${Object(citation)["url"]})`);
  return block.text + urls.join("");
}

Deno.test("adapters: citations of a text whose end was not sent are those of the text", async () => {
  const bedrock = await readBedrock([
    { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Deno." } } },
    {
      contentBlockDelta: {
        contentBlockIndex: 0,
        delta: { citation: { location: { web: { url: "https://deno.com" } } } },
      },
    },
  ]);
  const annotation = { type: "url_citation", url: "https://deno.com" };
  const responses = await readResponses([
    { type: "response.output_text.delta", output_index: 0, delta: "Deno." },
    { type: "response.output_text.annotation.added", output_index: 0, annotation },
  ]);
  const start = { type: "text", text: "Deno." };
  const citation = { type: "web_search_result_location", url: "https://deno.com" };
  const anthropic = await readAnthropic([
    { type: "content_block_start", index: 0, content_block: start },
    { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation } },
    { type: "content_block_stop", index: 0 },
  ]);
  for (const { content } of [bedrock, responses, anthropic]) {
    assertEquals(content.map(summarizeText), ["Deno.(https://deno.com)"]);
  }
});

Deno.test("adapters: an event of an unknown type with a message is reported, an error without a known form is one", async () => {
  const notices = [
    { type: "notice", message: "Hello" },
    { type: "progress", detail: "50 %", code: null },
  ];
  const errors = [
    { message: "Hello" },
    { detail: "Hello" },
    { type: "overloaded_error", message: "Hello" },
    { type: "ServiceException", message: "Hello" },
    { type: "notice", message: "Hello", code: "overloaded" },
    { type: "notice", message: "Hello", status: 503 },
    { type: "notice", object: "error", message: "Hello" },
    { type: "notice", error: "Hello" },
  ];
  for (const readEvents of [readAnthropic, readResponses]) {
    assertEquals(getUnknownParts(await readEvents(notices)), [
      "The reply has an event of unknown type: notice",
      "The reply has an event of unknown type: progress",
    ]);
    for (const event of errors) {
      const { error } = await readEvents([event]);
      assertEquals(error?.message.endsWith(" reported an error: Hello"), true, error?.message);
    }
  }
});

Deno.test("adapters: of several replies to a request the first is read, and the others are reported once", async () => {
  const expected = "The provider sent several replies; only the first one is read";
  const other = { delta: { content: "2" }, index: 1 };
  const chat = await read("openai", [
    { choices: [other] },
    { choices: [{ ...other, index: 2 }, { delta: { content: "1" }, index: 0 }] },
    { choices: [{ delta: {}, finish_reason: "stop" }] },
    { choices: [{ ...other, finish_reason: "length" }] },
  ]);
  const candidate = (text: string, fields: object) => ({
    content: { parts: [{ text }] },
    ...fields,
  });
  const google = await read("google", [
    { candidates: [candidate("2", { index: 1, finishReason: "MAX_TOKENS" }), candidate("1", {})] },
    { candidates: [candidate("2", { index: 1 })] },
    { candidates: [{ finishReason: "STOP", index: 0 }] },
  ]);
  for (const reply of [chat, google]) {
    const messages = reply.warnings.filter(({ code }) => code === "further_replies_left_out")
      .map(({ message }) => message);
    assertEquals([reply.text, reply.stopReason, messages], ["1", "stop", [expected]]);
  }
});

Deno.test("createBedrock(): an image whose base64 is sent in padded pieces is joined", async () => {
  const event = (name: string, value: object) => ({ [name]: { contentBlockIndex: 0, ...value } });
  const pieces = ["aGVsbG8=", "IQ==", "IHdv", "cmxk"];
  const { content } = await readBedrock([
    event("contentBlockStart", { start: { image: { format: "png" } } }),
    ...pieces.map((bytes) =>
      event("contentBlockDelta", { delta: { image: { source: { bytes } } } })
    ),
    event("contentBlockStop", {}),
  ]);
  const source = { bytes: btoa("hello! world") };
  assertEquals(content, [
    { type: "extension", typeName: "bedrock.image", data: { image: { format: "png", source } } },
  ]);
});
