import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { BadRequestError, NoMessagesError } from "../../src/core/errors/errors.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { MAX_JSON_DEPTH } from "../../src/core/json/json.ts";
import {
  type AgentMessage,
  type PromptInput,
  userMessage,
} from "../../src/core/messages/message.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { assistantMessage, text, toolCall, toolResultMessage } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineAllEvents, outlineMessages } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;

const user = (content: unknown): unknown => ({ role: "user", content, timestamp: 0 });

/** Input that untyped code passes, and the words of the error. */
const INVALID: readonly (readonly [string, unknown, string])[] = [
  ["undefined", undefined, "Invalid prompt: pass a string, { text, images }, a message"],
  ["null", null, "Invalid prompt"],
  ["a number", 5, "Invalid prompt"],
  ["a function", () => "Hi", "Invalid prompt"],
  ["an object without a role", { content: "Hi" }, "the role of a message must be user, assistant"],
  ["a misspelled role", { role: "usr", content: [] }, 'not "usr"'],
  ["string content", user("Hi"), 'write [{ type: "text", text: "…" }] instead of a string'],
  ["missing content", { role: "user" }, "content must be an array of blocks, not undefined"],
  ["strings as blocks", user(["a", "b"]), "content must have blocks such as"],
  ["null as a block", user([null]), "content must have blocks such as"],
  [
    "a block without a type",
    user([{ text: "Hi" }]),
    "a block of type undefined must have a string",
  ],
  ["a text block without a text", user([{ type: "text" }]), 'a block of type "text" must have a'],
  [
    "a text block with a number",
    user([{ type: "text", text: 5 }]),
    "must have a string text, not 5",
  ],
  [
    "an image without a source",
    user([{ type: "image" }]),
    'a block of type "image" must have a source',
  ],
  ["an image of another source", user([{ type: "image", source: { type: "gif" } }]), 'not "gif"'],
  [
    "an image without a media type",
    user([{ type: "image", source: { type: "base64", data: "AQ==" } }]),
    "must have a string mediaType",
  ],
  [
    "a document without a media type",
    user([{ type: "document", source: { type: "file", path: "a.pdf" } }]),
    'a block of type "document" must have a string mediaType',
  ],
  [
    "a date as the timestamp",
    { ...userMessage("Hi", 0), timestamp: new Date(0) },
    "must be a number",
  ],
  [
    "NaN as the timestamp",
    { ...userMessage("Hi", 0), timestamp: NaN },
    "timestamp must be a number",
  ],
  ["a list with a string", ["Hi"], "a message must be an object with a role"],
  ["a list with a bad message", [userMessage("Hi", 0), user("Hi")], "instead of a string"],
  ["a text that is no string", { text: 5 }, "must have a string text, not 5"],
  ["a misspelt name", { text: "Hi", image: [] }, '"image" of the prompt: did you mean images?'],
  ["a name of another prompt", { text: "Hi", documents: [] }, 'option "documents" of the prompt'],
  ["images that are no list", { text: "Hi", images: 5 }, "images must be an array"],
  ["images that are strings", { text: "Hi", images: ["a.png"] }, "content must have blocks"],
  ["a custom message without a type", { role: "custom", data: 1 }, "must have a string type"],
  ["a tool result without a call", { role: "tool_result", content: [] }, "a string toolCallId"],
  ["metadata with a BigInt", { ...userMessage("Hi", 0), metadata: { n: 5n } }, "is a bigint"],
  ["metadata with a cycle", { ...userMessage("Hi", 0), metadata: cycle }, "contains itself"],
  [
    "data with a function",
    { role: "custom", type: "x", data: () => {}, timestamp: 0 },
    "a function",
  ],
];

for (const [name, input, words] of INVALID) {
  Deno.test(`prompt(), steer() and followUp() refuse ${name}, and change nothing`, async () => {
    const { agent, seen, streamFn } = testAgent([reply("Hello")]);
    const prompt = input as PromptInput;
    const error = await assertRejects(() => agent.prompt(prompt), BadRequestError);
    assertStringIncludes(error.message, words);
    assertThrows(() => agent.steer(prompt), BadRequestError, words);
    assertThrows(() => agent.followUp(prompt), BadRequestError, words);
    assertEquals([seen, agent.state.messages, agent.state.isRunning], [[], [], false]);
    await agent.prompt("Hi");
    streamFn.assertDone();
  });
}

/** Lists that untyped code passes as a history. */
const BAD_HISTORIES: readonly (readonly [string, unknown, string])[] = [
  ["a text", "Hi", "The messages must be an array"],
  ["a message", userMessage("Hi", 0), "The messages must be an array"],
  ["strings", ["Hi"], "a message must be an object with a role"],
  ["string content", [user("Hi")], "instead of a string"],
  ["a malformed block", [user([{ type: "image" }])], "must have a source"],
];

for (const [name, messages, words] of BAD_HISTORIES) {
  Deno.test(`setMessages(), appendMessages() and new Agent({ messages }) refuse ${name}`, () => {
    const history = messages as AgentMessage[];
    const { agent } = testAgent([], { messages: [userMessage("Before", 0)] });
    assertThrows(() => agent.setMessages(history), BadRequestError, words);
    assertThrows(() => agent.appendMessages(history), BadRequestError, words);
    assertThrows(() => testAgent([], { messages: history }), BadRequestError, words);
    assertEquals(outlineMessages(agent.state.messages), ["user: Before"]);
  });
}

const BLANK: readonly (readonly [string, unknown])[] = [
  ["an empty text", ""],
  ["spaces and line breaks", " \n\t "],
  ["an empty text without images", { text: "" }],
  ["a user message without content", user([])],
  ["a user message with a blank text", user([text(" ")])],
  ["a blank message in a list", [userMessage("Hi", 0), userMessage("", 0)]],
];

for (const [name, input] of BLANK) {
  Deno.test(`prompt(), steer() and followUp() refuse ${name} as empty`, async () => {
    const { agent, seen, streamFn } = testAgent([]);
    const prompt = input as PromptInput;
    await assertRejects(() => agent.prompt(prompt), NoMessagesError, "The prompt is empty");
    assertThrows(() => agent.steer(prompt), NoMessagesError, "The prompt is empty");
    assertThrows(() => agent.followUp(prompt), NoMessagesError, "The prompt is empty");
    assertEquals([seen, agent.state.messages], [[], []]);
    streamFn.assertDone();
  });
}

Deno.test("prompt(): a blank text with an image is a prompt, and so is an extension block", async () => {
  const image = {
    type: "image",
    source: { type: "url", url: "https://example.com/a.png" },
  } as const;
  const extension = { type: "extension", typeName: "app.note", data: 1 } as const;
  const { agent, streamFn } = testAgent([reply("A cat"), reply("Noted")]);
  await agent.prompt({ text: "", images: [image] });
  await agent.prompt({ role: "user", content: [extension], timestamp: 0 });
  assertEquals(streamFn.calls.map(({ context }) => context.messages.at(-1)?.content), [
    [text(""), image],
    [extension],
  ]);
});

Deno.test("prompt() with only custom messages and no conversion ends in an error turn that says so", async () => {
  const { agent, streamFn } = testAgent([]);
  const note: AgentMessage = { role: "custom", type: "note", data: "milk", timestamp: 0 };
  const events = await checkEvents(agent.promptStream(note));
  assertEquals(outlineAllEvents(events), [
    "agent_start",
    "turn_start 1",
    "message_start custom",
    "message_end custom",
    "message_start assistant",
    "message_end assistant",
    "turn_end error",
    "agent_end",
  ]);
  const [end] = eventsOfType(events, "agent_end");
  assertEquals([end?.stopReason, end?.error?.code, end?.error?.message], [
    "error",
    "no_messages",
    "There are no messages to send: convertToLlm and transformContext omitted all of them",
  ]);
  streamFn.assertDone();
});

Deno.test("prompt() with a custom message that convertToLlm converts sends it", async () => {
  const { agent, streamFn } = testAgent([reply("Noted")], {
    convertToLlm: (message) =>
      message.role === "custom" ? userMessage(String(message.data), 0) : message,
  });
  await agent.prompt({ role: "custom", type: "note", data: "milk", timestamp: 0 });
  assertEquals(outlineMessages(streamFn.calls[0]?.context.messages ?? []), ["user: milk"]);
});

Deno.test("transformContext that omits all messages ends in an error turn that says so", async () => {
  const { agent, streamFn } = testAgent([], { transformContext: () => [] });
  const { error } = await agent.prompt("Hi");
  assertEquals(error?.code, "no_messages");
  streamFn.assertDone();
});

Deno.test("prompt input that is changed later stays as it was", async () => {
  const metadata = { source: { page: 1 } };
  const message = { ...userMessage("Hi", 0), metadata };
  const { agent, streamFn } = testAgent([reply("Hello"), reply("Again")]);
  const running = agent.prompt(message);
  metadata.source.page = 2;
  Object.assign(message.content[0] ?? {}, { text: "changed" });
  await running;
  const queued = agent.steer(message);
  metadata.source.page = 3;
  await agent.continue();
  assertEquals(queued.message.metadata, { source: { page: 2 } });
  assertEquals(agent.state.messages.flatMap(({ metadata }) => metadata ?? []), [
    { source: { page: 1 } },
    { source: { page: 2 } },
  ]);
  assertEquals(outlineMessages(streamFn.calls[0]?.context.messages ?? []), ["user: Hi"]);
});

Deno.test("prompt() accepts messages whose arguments are nested as deep as those of a reply may be", async () => {
  let args: Record<string, unknown> = {};
  for (let level = 1; level < MAX_JSON_DEPTH; level++) args = { a: args };
  const call = toolCall("look", args, { id: "c1" });
  const history = [userMessage("Hi", 0), assistantMessage([call]), toolResultMessage(call, "ok")];
  const { agent } = testAgent([reply("Hello")]);
  await agent.prompt([...history, userMessage("Go on", 0)]);
  const [, copied] = agent.state.messages;
  assertEquals(copied?.role === "assistant" && copied.content, [call]);
});

Deno.test("messages without a timestamp get the time at which they are passed or appended", async () => {
  const { timestamp: _timestamp, ...untimed } = userMessage("Hi", 0);
  const message = untimed as AgentMessage;
  const policies: Policy[] = [{
    name: "inject",
    preTurn: ({ turn }) => turn === 0 ? { type: "inject", messages: [message] } : undefined,
  }];
  const { agent, clock } = testAgent([reply("Hello")], { policies });
  clock.advance(5);
  agent.steer(message);
  clock.advance(2);
  await agent.prompt([message]);
  const sent = agent.state.messages.filter(({ role }) => role === "user");
  assertEquals(sent.map(({ timestamp }) => timestamp), [7, 5, 7]);
});

Deno.test("prompt(): a clock before 1970 is a clock", async () => {
  const { agent } = testAgent([reply("Hello")], { now: () => -5 });
  await agent.prompt("Hi");
  assertEquals(agent.state.messages.map(({ timestamp }) => timestamp), [-5, -5]);
});

Deno.test("prompt([]) sends the queued messages, and otherwise says what to pass", async () => {
  const { agent } = testAgent([reply("Hello"), reply("Bye")], { messages: [userMessage("Hi", 0)] });
  await assertRejects(
    () => agent.prompt([]),
    NoMessagesError,
    "There are no messages to send: pass a text",
  );
  agent.followUp("Now");
  await agent.prompt([]);
  const expected = ["user: Hi", "assistant: Hello", "user: Now", "assistant: Bye"];
  assertEquals(outlineMessages(agent.state.messages), expected);
});

Deno.test("message ids: every appended message has one, given ids stay, and duplicates get a new one", async () => {
  const { agent } = testAgent([reply("One"), reply("Two"), reply("Three")], {
    messages: [{ ...userMessage("Before", 0), id: "a" }],
  });
  await agent.prompt({ ...userMessage("Hi", 0), id: "b" });
  await agent.prompt([{ ...userMessage("Hi", 0), id: "a" }, { ...userMessage("Ho", 0), id: "b" }]);
  const queued = agent.steer("By the way");
  await agent.continue();
  const ids = agent.state.messages.map(({ id }) => id);
  assertEquals(ids.slice(0, 2), ["a", "b"]);
  assertEquals(new Set(ids).size, 8);
  assertEquals(ids.every((id) => typeof id === "string"), true);
  assertEquals(ids[6], queued.message.id);
});

Deno.test("message ids: are the same at message_start, message_end, turn_end and agent_end", async () => {
  const { agent } = testAgent([reply("Hello")]);
  const events = await checkEvents(agent.promptStream("Hi"));
  const ids = (type: "message_start" | "message_end") =>
    eventsOfType(events, type).map(({ message }) => message.id);
  assertEquals(ids("message_start"), ["message_1", "message_2"]);
  assertEquals(ids("message_end"), ["message_1", "message_2"]);
  assertEquals(eventsOfType(events, "turn_end")[0]?.message.id, "message_2");
  assertEquals(eventsOfType(events, "agent_end")[0]?.messages.map(({ id }) => id), [
    "message_1",
    "message_2",
  ]);
});

Deno.test("message ids: a given id that equals a random one of the same run gets a new one", async () => {
  const inject: Policy = {
    name: "inject",
    postTurn: ({ message, turn }) =>
      turn === 1
        ? { type: "inject", messages: [{ ...userMessage("Again", 0), id: message.id ?? "" }] }
        : undefined,
  };
  const streamFn = scriptedStream([reply("One"), reply("Two")]);
  const agent = new Agent({ model: "test/model", streamFn, policies: [inject] });
  const { messages } = await agent.prompt("Hi");
  assertEquals(messages.length, 4);
  assertEquals(new Set(messages.map(({ id }) => id)).size, 4);
});

Deno.test("message ids: a given id that equals a random one, which followed another given one, gets a new one", async () => {
  const inject: Policy = {
    name: "inject",
    postTurn: ({ message, turn }) =>
      turn === 1
        ? { type: "inject", messages: [{ ...userMessage("Again", 0), id: message.id ?? "" }] }
        : undefined,
  };
  const streamFn = scriptedStream([reply("One"), reply("Two")]);
  const agent = new Agent({ model: "test/model", streamFn, policies: [inject] });
  const { messages } = await agent.prompt({ ...userMessage("Hi", 0), id: "own" });
  assertEquals(messages[0]?.id, "own");
  assertEquals(new Set(messages.map(({ id }) => id)).size, 4);
});
