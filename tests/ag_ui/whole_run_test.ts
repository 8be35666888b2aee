/**
 * Runs that reach a client of AG-UI as a whole: all arguments of calls, the usage of all agents, and an end.
 *
 * @module
 */

import { assert, assertEquals, assertObjectMatch, assertStringIncludes } from "@std/assert";
import {
  Agent,
  type AssistantMessageEvent,
  type ContentBlock,
  extractText,
  type StreamRequest,
  textResult,
} from "../../mod.ts";
import { zeroUsage } from "../../src/core/models/usage.ts";
import { encodeBase64 } from "../../src/core/text/byte_encoding.ts";
import { InMemorySessionStore, openSession } from "../../src/memory/mod.ts";
import { agUiHandler, toAgUi } from "../../src/protocols/ag_ui/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { fail, fakeTool, hang, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { waitUntil } from "../wait_until.ts";
import { Client, connect } from "./test_client.ts";

const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 20, total: 135 };

/** The first bytes of an image. */
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

Deno.test("agUiHandler(): no arguments are lost when the model writes several calls at once", async () => {
  const answers = scriptedStream([reply("Done")]);
  const isFirst = (request: StreamRequest) => request.context.messages.length === 1;
  const delta = (contentIndex: number, delta: string) =>
    ({ type: "tool_call_delta", contentIndex, delta }) as const;
  const client = connect({
    tools: [fakeTool({ name: "weather" })],
    streamFn: (request) => isFirst(request) ? writeTogether() : answers(request),
  });
  async function* writeTogether(): AsyncGenerator<AssistantMessageEvent> {
    yield { type: "start" };
    yield { type: "tool_call_start", contentIndex: 0, id: "c1", name: "weather" };
    yield { type: "tool_call_start", contentIndex: 1, id: "c2", name: "weather" };
    for (const part of [delta(0, '{"city":'), delta(1, '{"city":')]) yield part;
    for (const part of [delta(0, '"Bern"}'), delta(1, '"Basel"}')]) yield part;
    yield { type: "tool_call_end", contentIndex: 0 };
    yield { type: "tool_call_end", contentIndex: 1 };
    yield { type: "done", stopReason: "tool_use", usage };
  }
  const { newMessages } = await client.send("How is the weather?");
  const calls = newMessages.flatMap((message) =>
    message.role === "assistant" ? message.toolCalls ?? [] : []
  );
  assertEquals(calls.map(({ id, function: called }) => [id, called.arguments]), [
    ["c1", '{"city":"Bern"}'],
    ["c2", '{"city":"Basel"}'],
  ]);
});

Deno.test("agUiHandler(): a call for which the provider writes no arguments has those that a client can parse", async () => {
  const answers = scriptedStream([reply("Done")]);
  const client = connect({
    tools: [fakeTool({ name: "look" })],
    streamFn: (request) => request.context.messages.length === 1 ? write() : answers(request),
  });
  async function* write(): AsyncGenerator<AssistantMessageEvent> {
    yield { type: "start" };
    yield { type: "tool_call_start", contentIndex: 0, id: "c1", name: "look" };
    yield { type: "tool_call_end", contentIndex: 0 };
    yield { type: "tool_call_start", contentIndex: 1, id: "c2", name: "look" };
    yield { type: "tool_call_delta", contentIndex: 1, delta: "" };
    yield { type: "tool_call_end", contentIndex: 1 };
    yield { type: "done", stopReason: "tool_use", usage };
  }
  const { newMessages } = await client.send("Look around");
  const calls = newMessages.flatMap((message) =>
    message.role === "assistant" ? message.toolCalls ?? [] : []
  );
  assertEquals(calls.map(({ id, function: called }) => [id, called.arguments]), [
    ["c1", "{}"],
    ["c2", "{}"],
  ]);
});

Deno.test("agUiHandler(): the usage of a run has that of its sub-agents", async () => {
  const streamFn = scriptedStream([
    reply([toolCall("explore", { prompt: "Look" })], { usage }),
    reply("Seen", { usage: { ...usage, input: 1_000 } }),
    reply("Done", { usage }),
  ]);
  const client = connect({
    streamFn,
    tools: [subAgentTool({ name: "explore", description: "Looks around." })],
  });
  await client.send("Hello");
  assertObjectMatch(client.last("RUN_FINISHED"), {
    usage: [{ inputTokens: 1_020 + 3 * 120, outputTokens: 15 }],
  });
});

Deno.test("agUiHandler(): a sub-agent that works longer than the run does not make its end invalid", async () => {
  const parent = scriptedStream([
    reply([toolCall("explore", { prompt: "Look", detached: true })]),
    reply([toolCall("wait")]),
    reply("Done"),
  ]);
  const child = scriptedStream([hang({ after: "I look" })]);
  const isSubAgent = ({ context }: StreamRequest) =>
    context.messages.some(({ role, content }) =>
      role === "user" && extractText(content) === "Look"
    );
  const started = Promise.withResolvers<void>();
  const explore = subAgentTool({ name: "explore", description: "Looks around.", detached: true });
  const agent = new Agent({
    model: "test/model",
    streamFn: (request) => isSubAgent(request) ? child(request) : parent(request),
    tools: [explore, {
      ...fakeTool({ name: "wait" }),
      async execute() {
        await started.promise;
        return textResult("Waited");
      },
    }],
  });
  agent.subscribe((event) => {
    if (event.type === "sub_agent" && event.event.type === "message_update") started.resolve();
  });
  await using _session = await openSession(new InMemorySessionStore(), {}, agent);
  const client = new Client(() => agent);
  await client.send("Hello");
  assertEquals(client.last("SUBAGENT_FINISHED")["outcome"], { type: "suspended" });
  assertEquals(client.last("RUN_FINISHED")["outcome"], { type: "success" });
});

Deno.test("agUiHandler(): a client does not learn where files of the server are", async () => {
  const image = { type: "image", source: { type: "file", path: "/srv/a.png" } } as const;
  const text = { type: "text", text: "A picture" } as const;
  const result = { content: [text, image], details: { width: 10 } };
  const client = connect({
    streamFn: scriptedStream([reply([toolCall("look")]), reply("Done")]),
    readFile: () => Promise.resolve(PNG),
    tools: [{
      ...fakeTool({ name: "look" }),
      execute(_args, { onUpdate }) {
        onUpdate({ content: [image] });
        return Promise.resolve(result);
      },
    }],
  });
  await client.send("Look");
  assertEquals(JSON.stringify(client.events).includes("/srv"), false);
  const end = client.events.flatMap((event) =>
    "name" in event && event["name"] === "swink.tool_execution_end" && "value" in event
      ? [event["value"]]
      : []
  );
  assertObjectMatch(end[0] as object, { result: { content: [text], details: { width: 10 } } });
});

Deno.test("agUiHandler(): the messages that a compaction omits are not sent to the client", async () => {
  const image = { type: "image", source: { type: "file", path: "/srv/a.png" } } as const;
  const hidden = { role: "user", content: [image], timestamp: 0 } as const;
  const client = connect({
    streamFn: scriptedStream([reply("Hello")]),
    transformContext: (messages) => ({
      messages,
      report: {
        droppedCount: 1,
        tokensBefore: 100,
        tokensAfter: 50,
        droppedMessages: [hidden],
        summary: "An image",
      },
    }),
  });
  await client.send("Hi");
  assertEquals(client.last("CUSTOM")["value"], {
    report: { droppedCount: 1, tokensBefore: 100, tokensAfter: 50, summary: "An image" },
  });
});

Deno.test("agUiHandler(): a failed call is one in the next run of an agent without a history", async () => {
  const errors: boolean[][] = [];
  const createAgent = () =>
    new Agent({
      model: "test/model",
      streamFn: (request) => {
        const { messages } = request.context;
        const results = messages.flatMap((message) =>
          message.role === "tool_result" ? [message.isError] : []
        );
        errors.push(results);
        const isFirst = results.length === 0;
        const calls = [toolCall("look", {}, { id: "c1" }), toolCall("find", {}, { id: "c2" })];
        return scriptedStream([isFirst ? reply(calls) : reply("Done")])(request);
      },
      tools: [
        fakeTool({ name: "look", result: new Error("It is closed") }),
        fakeTool({ name: "find" }),
      ],
    });
  const client = new Client(createAgent);
  await client.send("Go");
  await client.send("And now?");
  assertEquals(errors, [[], [true, false], [true, false]]);
  assertEquals(client.messages.at(1)?.role, "assistant");
  assertEquals(client.messages.at(2)?.metadata, { swink: { isError: true } });
  assertEquals(client.messages.at(3)?.metadata, undefined);
});

Deno.test("agUiHandler(): a request runs when the client has left the run before it, and fails if that does not end within a second", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([hang({ after: "One" }), reply("Two")]),
  });
  const waits: { readonly milliseconds: number; readonly end: () => void }[] = [];
  const isRunning = () => agent.state.isRunning;
  const handler = agUiHandler({
    createAgent: () => agent,
    keepAliveMs: 0,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        signal?.addEventListener("abort", () => resolve());
        if (milliseconds !== Infinity) waits.push({ milliseconds, end: resolve });
      }),
  });
  const send = (id: string) => {
    const messages = [{ id, role: "user", content: id }];
    const body = JSON.stringify({ threadId: "t", runId: id, messages });
    return handler(new Request("http://localhost/", { method: "POST", body }));
  };
  const first = (await send("one")).body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; !text.includes("One");) {
    const part = await first?.read();
    assert(part && !part.done);
    text += part.value;
  }
  const refused = send("other");
  await waitUntil(() => waits.length === 1);
  assertEquals(waits.map(({ milliseconds }) => milliseconds), [1_000]);
  waits[0]?.end();
  assertEquals([(await refused).status, await (await refused).json()], [409, {
    error: "Another run of this conversation is active: wait for its end",
  }]);
  assert(isRunning());
  const second = send("two");
  await waitUntil(() => waits.length === 2);
  await first?.cancel();
  assertStringIncludes(await (await second).text(), "RUN_FINISHED");
  assert(!isRunning());
});

Deno.test("agUiHandler(): a queued message with an image reaches the client with it", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply("One"), reply("Two")]),
  });
  const text = { type: "text", text: "Look" } as const;
  const data = encodeBase64(PNG);
  const image = {
    type: "image",
    source: { type: "base64", mediaType: "image/png", data },
  } as const;
  const unsubscribe = agent.subscribe(({ type }) => {
    if (type !== "model_call_start") return;
    unsubscribe();
    agent.followUp([{ role: "user", content: [text, image], timestamp: 0 }]);
  });
  const client = new Client(() => agent);
  await client.send("Hello");
  const source = { type: "data", value: data, mimeType: "image/png" };
  assertEquals(client.messages.map(({ role, content }) => [role, content]), [
    ["user", "Hello"],
    ["assistant", "One"],
    ["user", [text, { type: "image", source }]],
    ["assistant", "Two"],
  ]);
});

Deno.test("agUiHandler(): a run that has failed is repeated after a queued message that a client has in another form", async () => {
  const first = { type: "text", text: "Look" } as const;
  const second = { type: "text", text: "here" } as const;
  const mediaType = "application/pdf";
  const source = { type: "base64", data: encodeBase64(PNG) } as const;
  const contents: readonly (readonly ContentBlock[])[] = [
    [first, second],
    [first, { type: "image", source: { type: "file", path: "/srv/image.png" } }],
    [{ type: "document", name: "paper", mediaType, source }],
  ];
  for (const content of contents) {
    const agent = new Agent({
      model: "test/model",
      readFile: () => Promise.resolve(PNG),
      streamFn: scriptedStream([reply("One"), fail("auth_error", "No key"), reply("Two")]),
    });
    const unsubscribe = agent.subscribe(({ type }) => {
      if (type !== "model_call_start") return;
      unsubscribe();
      agent.followUp([{ role: "user", content, timestamp: 0 }]);
    });
    const client = new Client(() => agent);
    await client.send("Hello");
    assertStringIncludes(String(client.last("RUN_ERROR")["message"]), "No key");
    await client.runAgent();
    assertEquals(client.messages.at(-1)?.content, "Two");
  }
});

Deno.test("toAgUi(): a stream that fails ends with an error, which has no details of the application", async () => {
  const start = { type: "agent_start", seq: 0, runId: "r" } as const;
  for (const first of [[], [start]]) {
    const stream = new ReadableStream({
      pull(controller) {
        const event = first.shift();
        if (event) controller.enqueue(event);
        else controller.error(new Error("secret"));
      },
    });
    const events = await Array.fromAsync(toAgUi(stream, { threadId: "t", runId: "r" }));
    const starts = events.filter(({ type }) => type === "RUN_STARTED");
    assertEquals([starts.length, events.at(-1)], [1, {
      type: "RUN_ERROR",
      message: "The run could not be started",
      code: "stream_error",
    }]);
  }
});

Deno.test("agUiHandler(): texts that a model writes in turn are one message each", async () => {
  const write = (contentIndex: number, delta: string) =>
    ({ type: "text_delta", contentIndex, delta }) as const;
  const client = connect({
    streamFn: scriptedStream([[
      { type: "start" },
      { type: "text_start", contentIndex: 0 },
      write(0, "x"),
      { type: "text_start", contentIndex: 1 },
      write(1, "8"),
      write(0, "y"),
      write(1, "9"),
      { type: "text_end", contentIndex: 0 },
      { type: "text_end", contentIndex: 1 },
      { type: "done", stopReason: "stop", usage: zeroUsage() },
    ]]),
  });
  const { newMessages } = await client.send("Count");
  assertEquals(newMessages.map(({ content }) => content), ["xy", "89"]);
});
