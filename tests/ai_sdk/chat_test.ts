/**
 * Conversations of the chat of the AI SDK with agents.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { Agent, type AgentMessage, defineTool, extractText, userMessage } from "../../mod.ts";
import { zeroUsage } from "../../src/loop/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { fail, fakeTool, hang, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { connect, TestChat } from "./test_chat.ts";

const weather = defineTool({
  name: "weather",
  description: "Returns the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: () => ({ degrees: 21 }),
});

const look = toolCall("look", {}, { id: "c1" });

Deno.test("uiMessageHandler(): a chat gets the text, the calls and the results of an answer as one message", async () => {
  const streamFn = scriptedStream([
    reply([
      { type: "thinking", thinking: "A question." },
      { type: "text", text: "Let me look." },
      toolCall("weather", { city: "Bern" }, { id: "c1" }),
    ]),
    reply("It is warm."),
  ]);
  const chat = connect({ streamFn, tools: [weather] });
  await chat.sendMessage({ text: "How is the weather?" });
  assertEquals([chat.status, chat.messages.length], ["ready", 2]);
  assertEquals(JSON.parse(JSON.stringify(chat.lastMessage?.parts)), [
    { type: "step-start" },
    { type: "reasoning", id: "reasoning-1", text: "A question.", state: "done" },
    { type: "text", text: "Let me look.", state: "done" },
    {
      type: "tool-weather",
      toolCallId: "c1",
      state: "output-available",
      input: { city: "Bern" },
      output: { degrees: 21 },
    },
    { type: "step-start" },
    { type: "text", text: "It is warm.", state: "done" },
  ]);
  assertEquals(chat.types, [
    "start",
    "start-step",
    ...["reasoning-start", "reasoning-delta", "reasoning-end"],
    ...["text-start", "text-delta", "text-end"],
    ...["tool-input-start", "tool-input-delta", "tool-input-available", "tool-output-available"],
    "finish-step",
    "start-step",
    ...["text-start", "text-delta", "text-end"],
    "finish-step",
    "finish",
  ]);
});

Deno.test("uiMessageHandler(): a new agent gets the history of the page, a kept one only what is new", async () => {
  for (const isNew of [true, false]) {
    const script = scriptedStream([
      reply([{ type: "text", text: "I look." }, toolCall("weather", { city: "Bern" })]),
      reply("Warm."),
      reply("Yes."),
    ]);
    const create = () => new Agent({ model: "test/model", streamFn: script, tools: [weather] });
    const kept = create();
    const chat = new TestChat({ createAgent: () => isNew ? create() : kept });
    await chat.sendMessage({ text: "Weather?" });
    await chat.sendMessage({ text: "Sure?" });
    const messages = script.calls.at(-1)?.context.messages ?? [];
    assertEquals(messages.map(describe), [
      "user Weather?",
      "assistant I look. weather",
      'tool_result {"degrees":21}',
      "assistant Warm.",
      "user Sure?",
    ]);
    assertEquals(chat.messages.map(({ role }) => role), [
      ...["user", "assistant"],
      ...["user", "assistant"],
    ]);
  }
});

function describe(message: AgentMessage): string {
  if (message.role === "custom") return message.role;
  const calls = message.content.flatMap((block) => block.type === "tool_call" ? [block.name] : []);
  return [message.role, extractText(message.content), ...calls].join(" ");
}

Deno.test("uiMessageHandler(): a chat loses what a retry takes back", async () => {
  const streamFn = scriptedStream([
    fail("network_error", "down", {
      after: [{ type: "text", text: "Lost" }, toolCall("look", {}, { id: "c0" })],
    }),
    reply([{ type: "text", text: "Kept" }, look]),
    reply("Done"),
  ]);
  const chat = connect({
    streamFn,
    retry: () => 0,
    sleep: () => Promise.resolve(),
    tools: [fakeTool({ name: "look", result: "seen" })],
  });
  const data: unknown[] = [];
  const observed = connect({
    streamFn: scriptedStream([fail("network_error", "down"), reply("Done")]),
    retry: () => 0,
    sleep: () => Promise.resolve(),
  }, { onData: (part) => void data.push(part) });
  await chat.sendMessage({ text: "Look" });
  assertEquals(summarize(chat), ["text Kept", "tool-look output-available seen", "text Done"]);
  assert(chat.types.includes("reset-step"));
  await observed.sendMessage({ text: "Look" });
  assertEquals(data, [{
    type: "data-swink-retry",
    data: {
      attempt: 1,
      delayMs: 0,
      discard: false,
      error: { code: "network_error" },
    },
    transient: true,
  }]);
});

function summarize({ parts }: TestChat): string[] {
  return parts.map((part) => {
    if (part.type === "text") return `text ${part.text}`;
    if (!("toolCallId" in part)) return part.type;
    return [part.type, part.state, part.output ?? part.errorText].join(" ").trimEnd();
  });
}

Deno.test("uiMessageHandler(): a call of a reply that was cut off has an error in the chat", async () => {
  const streamFn = scriptedStream([
    [
      { type: "start" },
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "I look" },
      { type: "text_end", contentIndex: 0 },
      { type: "tool_call_start", contentIndex: 1, id: "c1", name: "look" },
      { type: "tool_call_delta", contentIndex: 1, delta: '{"at":' },
      { type: "done", stopReason: "length", usage: zeroUsage() },
    ],
    reply("Done"),
  ]);
  const chat = connect({ streamFn, tools: [fakeTool({ name: "look" })] });
  await chat.sendMessage({ text: "Look" });
  const [text, call] = summarize(chat);
  assertEquals(text, "text I look");
  assert(call?.startsWith("tool-look output-error"), call);
});

Deno.test("uiMessageHandler(): failures, partial results and media of tools reach the chat", async () => {
  const outputs: unknown[] = [];
  const failing = defineTool({
    name: "fail",
    description: "Fails.",
    parameters: {},
    execute: () => Promise.reject(new Error("No disk")),
  });
  const draw = defineTool({
    name: "draw",
    description: "Draws.",
    parameters: {},
    execute: (_args, { onUpdate }) => {
      onUpdate("half");
      return {
        content: [
          { type: "text", text: "A cat" },
          { type: "image", source: { type: "file", path: "/secret/cat.png" } },
          { type: "image", source: { type: "base64", mediaType: "image/png", data: "AAAA" } },
        ],
      };
    },
  });
  const streamFn = scriptedStream([
    reply([toolCall("fail", {}, { id: "c1" }), toolCall("draw", {}, { id: "c2" })]),
    reply("Done"),
  ]);
  const chat = connect({
    streamFn,
    tools: [failing, draw],
    readFile: () => Promise.resolve(new Uint8Array([1])),
  });
  await chat.sendMessage({ text: "Draw" });
  for (const chunk of chat.chunks) {
    if (chunk.type === "tool-output-available") outputs.push([chunk.output, chunk.preliminary]);
    if (chunk.type === "tool-output-error") outputs.push(chunk.errorText);
  }
  assertEquals(outputs, [
    ["half", true],
    "No disk",
    [
      [
        { type: "text", text: "A cat" },
        { type: "image", source: { type: "base64", mediaType: "image/png", data: "AAAA" } },
      ],
      undefined,
    ],
  ]);
  assert(!JSON.stringify(chat.messages).includes("secret"));
});

Deno.test("uiMessageHandler(): a new agent reads the same text of a result as the one before it", async () => {
  const tool = fakeTool({
    name: "look",
    result: { content: [{ type: "text", text: "2 orders" }], details: { ids: [1, 2] } },
  });
  const script = scriptedStream([reply([look]), reply("Done"), reply("Again")]);
  const createAgent = () => new Agent({ model: "test/model", streamFn: script, tools: [tool] });
  const chat = new TestChat({ createAgent });
  await chat.sendMessage({ text: "Look" });
  assertEquals(chat.parts[0] && "output" in chat.parts[0] && chat.parts[0].output, { ids: [1, 2] });
  await chat.sendMessage({ text: "Again" });
  const messages = script.calls.at(-1)?.context.messages ?? [];
  assertEquals(messages.map(describe)[2], "tool_result 2 orders");
});

Deno.test("uiMessageHandler(): a message that steers the run is part of the answer", async () => {
  const streamFn = scriptedStream([reply([look]), reply("I have read it")]);
  const tool = defineTool({
    name: "look",
    description: "Looks.",
    parameters: {},
    execute: () => {
      agent.steer("Be brief");
      return "seen";
    },
  });
  const agent = new Agent({ model: "test/model", streamFn, tools: [tool] });
  const chat = new TestChat({ createAgent: () => agent });
  await chat.sendMessage({ text: "Look" });
  assertEquals(chat.lastMessage?.parts.map(({ type }) => type), [
    "step-start",
    "tool-look",
    "steering-message",
    "step-start",
    "text",
  ]);
  const [, , steering] = chat.lastMessage?.parts ?? [];
  assertEquals(steering?.type === "steering-message" && steering.parts, [
    { type: "text", text: "Be brief" },
  ]);
});

Deno.test("uiMessageHandler(): events of the application are data parts, those of sub-agents reach onData", async () => {
  const data: { readonly type: string; readonly data: unknown }[] = [];
  const streamFn = scriptedStream([
    reply([toolCall("explore", { prompt: "Look" }, { id: "c1" })]),
    reply("Found"),
    reply("Done"),
  ]);
  const agent = new Agent({
    model: "test/model",
    streamFn,
    tools: [subAgentTool({ name: "explore", description: "Looks around." })],
  });
  agent.subscribe(({ type }) => {
    if (type === "tool_execution_start") agent.emitCustom("progress", { percent: 50 });
  });
  const chat = new TestChat({ createAgent: () => agent }, {
    onData: (part) => void data.push(part),
  });
  await chat.sendMessage({ text: "Look" });
  assertEquals(summarize(chat), [
    "tool-explore output-available Found",
    "data-progress",
    "text Done",
  ]);
  const types = data.map(({ type }) => type);
  assertEquals(new Set(types), new Set(["data-progress", "data-swink-sub_agent"]));
  assertEquals(data[1], {
    type: "data-swink-sub_agent",
    data: { path: ["c1"], event: { type: "agent_start" } },
    transient: true,
  } as never);
});

Deno.test("uiMessageHandler(): a chat shows the error of a run and can go on", async () => {
  const streamFn = scriptedStream([fail("auth_error", "The key is invalid"), reply("Now")]);
  const chat = connect({ streamFn });
  await chat.sendMessage({ text: "Hello" });
  assertEquals([chat.status, chat.error?.message], ["error", "The key is invalid"]);
  await chat.sendMessage({ text: "Again" });
  assertEquals([chat.status, summarize(chat)], ["ready", ["text Now"]]);
});

Deno.test("uiMessageHandler(): stop() of a chat aborts the run, and an abort on the server ends the answer", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([hang({ after: "One" }), hang({ after: "Two" }), reply("Three")]),
  });
  const chat = new TestChat({ createAgent: () => agent });
  for (const end of [() => chat.stop(), () => agent.abort("enough")]) {
    const started = Promise.withResolvers<void>();
    const unsubscribe = agent.subscribe(({ type }) => {
      if (type === "message_update") setTimeout(started.resolve);
    });
    const sent = chat.sendMessage({ text: "Hello" });
    await started.promise;
    unsubscribe();
    await end();
    await sent;
    await agent.waitForIdle();
    assertEquals([chat.status, chat.error], ["ready", undefined]);
  }
  assertEquals(chat.chunks.at(-1), { type: "abort", reason: "enough" });
  await chat.sendMessage({ text: "And now?" });
  assertEquals(summarize(chat), ["text Three"]);
});

Deno.test("uiMessageHandler(): an answer has the metadata of the end of its run", async () => {
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hi")]) });
  const chat = new TestChat({
    createAgent: () => agent,
    messageMetadata: ({ stopReason, usage }) => ({ stopReason, total: usage.total }),
  });
  await chat.sendMessage({ text: "Hello", metadata: { from: "me" } });
  const { total } = agent.state.messages[1]?.role === "assistant"
    ? agent.state.messages[1].usage
    : { total: -1 };
  assertEquals(chat.lastMessage?.metadata, { stopReason: "stop", total });
  assertEquals(agent.state.messages[0]?.metadata, { from: "me" });
});

Deno.test("uiMessageHandler(): an answer that cites pages lists them once", async () => {
  const citations = [
    { type: "url", url: "https://a.example/", title: "A" },
    { type: "url", url: "https://a.example/", title: "A" },
    { type: "document", documentIndex: 0 },
  ] as const;
  const streamFn = scriptedStream([reply([{ type: "text", text: "So", citations }])]);
  const chat = connect({ streamFn });
  await chat.sendMessage({ text: "Why?" });
  const sources = chat.parts.filter(({ type }) => type.startsWith("source"));
  assertEquals(sources.map((part) => "sourceId" in part && [part.sourceId, part.title]), [
    ["https://a.example/", "A"],
  ]);
});

Deno.test("uiMessageHandler(): another answer replaces the first one of a new agent", async () => {
  const script = scriptedStream([reply("One"), reply("Two")]);
  const createAgent = () => new Agent({ model: "test/model", streamFn: script });
  const chat = new TestChat({ createAgent });
  await chat.sendMessage({ text: "Count" });
  await chat.regenerate();
  assertEquals(summarize(chat), ["text Two"]);
  assertEquals(script.calls.at(-1)?.context.messages.length, 1);
});

Deno.test("uiMessageHandler(): an agent with a history refuses to generate another answer, in words", async () => {
  const chat = connect({ streamFn: scriptedStream([reply("One"), reply("Two")]) });
  await chat.sendMessage({ text: "Count" });
  await chat.regenerate();
  assertEquals(chat.status, "error");
  assert(/continue/i.test(chat.error?.message ?? ""), chat.error?.message);
});

Deno.test("uiMessageHandler(): images and files of the user reach the model", async () => {
  const script = scriptedStream([reply("A cat")]);
  const chat = connect({ streamFn: script });
  await chat.sendMessage({
    text: "What is it?",
    files: [
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" },
      { type: "file", mediaType: "application/pdf", filename: "a.pdf", url: "https://a.example/a" },
      { type: "file", mediaType: "text/plain", url: "data:text/plain,a%20b" },
    ],
  });
  const [message] = script.calls[0]?.context.messages ?? [];
  assertEquals(message?.role === "user" && message.content, [
    { type: "image", source: { type: "base64", mediaType: "image/png", data: "AAAA" } },
    {
      type: "document",
      mediaType: "application/pdf",
      source: { type: "url", url: "https://a.example/a" },
      name: "a.pdf",
    },
    { type: "document", mediaType: "text/plain", source: { type: "base64", data: "YSBi" } },
    { type: "text", text: "What is it?" },
  ]);
});

Deno.test("uiMessageHandler(): a request during a run that another page has started is refused", async () => {
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([hang()]) });
  const chat = new TestChat({ createAgent: () => agent, sleep: () => Promise.resolve() });
  const run = agent.prompt(userMessage("Hello"));
  await chat.sendMessage({ text: "Me too" });
  assertEquals(chat.status, "error");
  agent.abort();
  await run;
});
