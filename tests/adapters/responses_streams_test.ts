/**
 * Replies of the Responses API in the forms that servers other than OpenAI's send.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { createMinimalRequest } from "./wire_tests.ts";

const READ_FILE = { name: "read_file", description: "", parameters: { type: "object" } } as const;

/** Reads a reply of the given events. */
function read(events: readonly object[]): Promise<CollectedReply> {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const request = createMinimalRequest("acme", "m");
  const context = { ...request.context, tools: [READ_FILE] };
  const streamFn = createOpenAI({ fetch: replayFetch(body), api: "responses" });
  return readReply(streamFn({ ...request, context }));
}

function summarizeCalls({ calls }: CollectedReply): unknown[] {
  return calls.map(({ name, arguments: args }) => [name, args]);
}

const ITEM = { id: "fc_1", type: "function_call", call_id: "1", name: "read_file", arguments: "" };
const COMPLETED = { type: "response.completed", response: { status: "completed" } };
const ADDED = { type: "response.output_item.added", output_index: 0, item: ITEM };
const ARGUMENTS = '{"path":"a"}';
const MESSAGE = { type: "message", content: [{ type: "output_text", text: "Yes." }] };

Deno.test("responses: arguments that come only in function_call_arguments.done are those of the call", async () => {
  const done = { type: "response.function_call_arguments.done", output_index: 0 };
  const reply = await read([ADDED, { ...done, arguments: ARGUMENTS }, COMPLETED]);
  assertEquals(summarizeCalls(reply), [["read_file", { path: "a" }]]);
  const delta = { type: "response.function_call_arguments.delta", output_index: 0 };
  const twice = [ADDED, { ...delta, delta: ARGUMENTS }, { ...done, arguments: ARGUMENTS }];
  assertEquals(summarizeCalls(await read([...twice, COMPLETED])), [
    ["read_file", { path: "a" }],
  ]);
});

Deno.test("responses: each part of a text that comes without deltas is read once", async () => {
  const delta = (text: string) => ({ type: "response.output_text.delta", delta: text });
  const done = (text: string) => ({ type: "response.output_text.done", text });
  const content = ["a", "b", "c"].map((text) => ({ type: "output_text", text }));
  const { text } = await read([
    delta("a"),
    done("a"),
    done("b"),
    delta("c"),
    done("c"),
    { type: "response.output_item.done", output_index: 0, item: { type: "message", content } },
    { type: "response.completed", response: { status: "completed" } },
  ]);
  assertEquals(text, "abc");
});

Deno.test("responses: the parts of reasoning that vLLM sends are read without a warning", async () => {
  const part = { item_id: "rs_1", output_index: 0, content_index: 0 };
  const { thinking, text, warnings } = await read([
    { type: "response.reasoning_part.added", ...part, part: { type: "reasoning_text", text: "" } },
    { type: "response.reasoning_text.delta", ...part, delta: "I look." },
    { type: "response.reasoning_text.done", ...part, text: "I look." },
    { type: "response.reasoning_part.done", ...part, part: { type: "reasoning_text" } },
    { type: "response.output_item.done", output_index: 1, item: MESSAGE },
    COMPLETED,
  ]);
  const codes = warnings.map(({ code }) => code);
  assertEquals([thinking, text, codes.includes("unknown_part")], ["I look.", "Yes.", false]);
});

Deno.test("responses: text that comes only in output_item.done is the text of the reply", async () => {
  const done = { type: "response.output_item.done", output_index: 0, item: MESSAGE };
  assertEquals((await read([done, COMPLETED])).text, "Yes.");
  const delta = { type: "response.output_text.delta", output_index: 0, delta: "Yes." };
  assertEquals((await read([delta, done, COMPLETED])).text, "Yes.");
});

Deno.test("responses: a message that comes only in the last event, after other items, is the text of the reply", async () => {
  const summary = [{ type: "summary_text", text: "Hm." }];
  const reasoning = { type: "reasoning", id: "rs_1", summary };
  const call = { ...ITEM, arguments: ARGUMENTS };
  for (const item of [reasoning, call]) {
    const done = { type: "response.output_item.done", output_index: 0, item };
    const response = { status: "completed", output: [item, MESSAGE] };
    const reply = await read([done, { type: "response.completed", response }]);
    assertEquals([reply.text, reply.calls.length], ["Yes.", item === call ? 1 : 0]);
  }
});

Deno.test("responses: output that comes only in the last event is the reply", async () => {
  const output = [MESSAGE, { ...ITEM, arguments: ARGUMENTS }];
  const response = { status: "completed", output };
  const reply = await read([{ type: "response.completed", response }]);
  assertEquals(reply.text, "Yes.");
  assertEquals(summarizeCalls(reply), [["read_file", { path: "a" }]]);
});

const createCallItem = (id: string) => ({ ...ITEM, id: `fc_${id}`, call_id: `call_${id}` });
const createCallEnd = (id: string, args: string) => ({
  type: "response.output_item.done",
  item: { ...createCallItem(id), arguments: args, status: "completed" },
});
const createCallDelta = (item_id: string, delta: string) => ({
  type: "response.function_call_arguments.delta",
  item_id,
  delta,
});

Deno.test("responses: arguments of several calls that come only in the last event are those of the calls", async () => {
  const inputs = ['{"path":"a"}', '{"path":"b"}', '{"path":"c"}'];
  const output = inputs.map((args, index) => ({
    ...createCallItem(String(index)),
    arguments: args,
    status: "completed",
  }));
  const ends = output.map((item, output_index) => ({
    type: "response.output_item.done",
    output_index,
    item: { ...item, arguments: "" },
  }));
  const response = { status: "completed", output };
  const reply = await read([...ends, { type: "response.completed", response }]);
  assertEquals(
    reply.calls.map(({ arguments: args, state }) => [args, state]),
    inputs.map((args) => [JSON.parse(args), "complete"]),
  );
  const empty = await read([...ends, COMPLETED]);
  assertEquals(summarizeCalls(empty), Array(3).fill(["read_file", {}]));
  const cut = { type: "response.incomplete", response: { status: "incomplete" } };
  const states = (await read([...ends, cut])).calls.map(({ state }) => state);
  assertEquals(states, ["complete", "complete", "truncated"]);
});

Deno.test("responses: calls without the index of their item are found by its id, as llama.cpp sends them", async () => {
  const one = '{"path":"a"}';
  const two = '{"path":"b"}';
  const add = (item: object) => ({ type: "response.output_item.added", item });
  const current = [
    add(createCallItem("1")),
    createCallDelta("fc_1", one),
    add(createCallItem("2")),
    createCallDelta("fc_2", two),
    createCallEnd("1", one),
    createCallEnd("2", two),
  ];
  // Earlier versions send the id of the call as that of the item.
  const withoutId = (id: string) => ({ ...ITEM, id: undefined, call_id: `fc_${id}` });
  const earlier = [
    add(withoutId("1")),
    add(withoutId("2")),
    createCallDelta("fc_1", one),
    createCallDelta("fc_2", two),
  ];
  const onlyEnds = [createCallEnd("1", one), createCallEnd("2", two)];
  for (const events of [current, earlier, onlyEnds]) {
    const reply = await read([...events, COMPLETED]);
    assertEquals(
      summarizeCalls(reply),
      [["read_file", { path: "a" }], ["read_file", { path: "b" }]],
    );
    assertEquals(reply.warnings.filter(({ code }) => code !== "unknown_model"), []);
  }
});

Deno.test("responses: calls with one index are as many as their ids, and an item that starts twice is one call", async () => {
  const atZero = (event: object) => ({ ...event, output_index: 0 });
  const two = await read([
    atZero(createCallEnd("1", '{"path":"a"}')),
    atZero(createCallEnd("2", '{"path":"b"}')),
    COMPLETED,
  ]);
  assertEquals(two.calls.map(({ id, arguments: args }) => [id, args]), [
    ["call_1", { path: "a" }],
    ["call_2", { path: "b" }],
  ]);
  const delta = { type: "response.function_call_arguments.delta", output_index: 0 };
  const one = await read([
    ADDED,
    ADDED,
    { ...delta, delta: ARGUMENTS },
    COMPLETED,
  ]);
  assertEquals(summarizeCalls(one), [["read_file", { path: "a" }]]);
});

Deno.test("responses: the last call without arguments stays open at the token limit, although its item has ended", async () => {
  const events = ["1", "2"].flatMap((id) => [
    { type: "response.output_item.added", item: createCallItem(id) },
    createCallEnd(id, ""),
  ]);
  const incomplete = { type: "response.incomplete", response: { status: "incomplete" } };
  const output = ["1", "2"].map((id) => createCallEnd(id, "").item);
  const onlyOutput = { ...incomplete, response: { status: "incomplete", output } };
  for (const cut of [[...events, incomplete], [...events, onlyOutput], [onlyOutput]]) {
    const reply = await read(cut);
    assertEquals(reply.calls.map(({ state }) => state), ["complete", "truncated"]);
  }
  const complete = await read([...events, COMPLETED]);
  assertEquals(complete.calls.map(({ state }) => state), ["complete", "complete"]);
});

Deno.test("responses: calls that start before their arguments have their own, also with one index, an index as text or none", async () => {
  const one = '{"path":"a"}';
  const two = '{"path":"b"}';
  const at = (output_index: unknown, event: object) => ({ ...event, output_index });
  const add = (id: string) => ({ type: "response.output_item.added", item: createCallItem(id) });
  const atZero = [add("1"), add("2"), createCallDelta("fc_1", one), createCallDelta("fc_2", two)]
    .map((event) => at(0, event));
  const anonymous = (args: string) => ({ ...createCallDelta("", args), item_id: undefined });
  const texts = [
    at("0", add("1")),
    at("1", add("2")),
    at("0", anonymous(one)),
    at("1", anonymous(two)),
  ];
  const none = [add("1"), anonymous(one), add("2"), anonymous(two)];
  for (const events of [atZero, texts, none]) {
    const reply = await read([...events, COMPLETED]);
    assertEquals(
      summarizeCalls(reply),
      [["read_file", { path: "a" }], ["read_file", { path: "b" }]],
    );
  }
});

Deno.test("responses: a call that only the last event contains is read in addition to others, unless the ids have changed", async () => {
  const item = (id: string) => createCallEnd(id, ARGUMENTS).item;
  const readOutput = async (...output: object[]) => {
    const response = { status: "completed", output };
    const events = [createCallEnd("1", ARGUMENTS), { type: "response.completed", response }];
    return (await read(events)).calls.map(({ id }) => id);
  };
  assertEquals(await readOutput(item("1"), item("2")), ["call_1", "call_2"]);
  assertEquals(await readOutput(item("1")), ["call_1"]);
  assertEquals(await readOutput(item("3")), ["call_1"]);
  const response = { status: "completed", output: [item("3")] };
  const started = [
    { type: "response.output_item.added", output_index: 0, item: createCallItem("1") },
    { type: "response.completed", response },
  ];
  assertEquals(
    (await read(started)).calls.map(({ id, arguments: args }) => [id, args]),
    [["call_1", { path: "a" }]],
  );
});

Deno.test("responses: text and reasoning without the ends of their items are read once", async () => {
  const delta = (type: string, text: string) => ({ type: `response.${type}.delta`, delta: text });
  const message = (text: string) => ({ type: "message", content: [{ type: "output_text", text }] });
  const reasoning = (text: string) => ({ type: "reasoning", summary: [{ text }] });
  const output = [reasoning("a"), message("A"), reasoning("b"), message("B")];
  const reply = await read([
    delta("reasoning_summary_text", "a"),
    delta("output_text", "A"),
    delta("reasoning_summary_text", "b"),
    delta("output_text", "B"),
    { type: "response.completed", response: { status: "completed", output } },
  ]);
  assertEquals([reply.thinking, reply.text], ["ab", "AB"]);
});

Deno.test("responses: an incomplete call stays open", async () => {
  const item = { ...ITEM, arguments: '{"path":', status: "incomplete" };
  const done = { type: "response.output_item.done", output_index: 0, item };
  const incomplete = { type: "response.incomplete", response: { status: "incomplete" } };
  const reply = await read([ADDED, done, incomplete]);
  assertEquals(reply.calls.map(({ state }) => state), ["truncated"]);
});

Deno.test("responses: an error without a type is an error", async () => {
  const reply = await read([{ error: { code: "insufficient_quota" } }]);
  assertEquals(reply.error?.code, "model_throttled");
});
