import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Agent } from "../../src/agent/agent.ts";
import {
  AbortedError,
  AlreadyRunningError,
  AuthError,
  BadRequestError,
  BudgetExceededError,
  NoMessagesError,
} from "../../src/core/errors/errors.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { zeroUsage } from "../../src/core/models/usage.ts";
import type { AssistantMessageEvent } from "../../src/core/streams/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, thinking, toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { InstantClock, scriptedPorts, settle } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const look = () => fakeTool({ name: "look" });

Deno.test("result: has the text of the last reply, the id of the run and the number of turns", async () => {
  const { agent } = testAgent([
    reply([thinking("Hm"), text("Let me look. "), toolCall("look")]),
    reply([text("A "), text("cat")]),
    fail("stream_error", "Broken", { after: "Half" }),
  ], { tools: [look()] });
  const first = await agent.prompt("Look");
  assertEquals([first.text, first.runId, first.turns], ["A cat", "run_1", 2]);
  const second = await agent.prompt("Again");
  assertEquals([second.text, second.runId, second.turns], ["Half", "run_2", 1]);
});

Deno.test("result: the text is empty when the run has no reply, whatever earlier runs said", async () => {
  const { agent } = testAgent([reply("Hello"), fail("auth_error", "No key")]);
  await agent.prompt("Hi");
  assertEquals((await agent.prompt("Again")).text, "");
});

Deno.test("promptStream(): text() and result() read the stream to its end", async () => {
  const { agent } = testAgent([reply("One"), reply("Two")]);
  assertEquals(await agent.promptStream("Hi").text(), "One");
  const result = await agent.promptStream("Hi").result();
  assertEquals([result.text, result.stopReason, result.messages.length], ["Two", "stop", 2]);
});

Deno.test("promptStream(): text() and result() may be called together and again", async () => {
  const { agent } = testAgent([reply("One")]);
  const stream = agent.promptStream("Hi");
  const [words, result] = await Promise.all([stream.text(), stream.result()]);
  assertEquals([words, result.text, await stream.text()], ["One", "One", "One"]);
});

Deno.test("promptStream(): result() resolves while another reader reads the stream, and after it", async () => {
  const { agent } = testAgent([reply("One"), reply("Two"), reply("Three")]);
  const iterated = agent.promptStream("Hi");
  const events: AgentEvent[] = [];
  for await (const event of iterated) {
    if (events.push(event) === 1) {
      void iterated.result().then(({ text }) => assertEquals(text, "One"));
    }
  }
  assertEquals([(await iterated.result()).text, events.at(-1)?.type], ["One", "agent_end"]);
  const read = agent.promptStream("Hi");
  const reader = read.getReader();
  const result = read.result();
  while (!(await reader.read()).done);
  assertEquals((await result).text, "Two");
  const teed = agent.promptStream("Hi");
  const [left, right] = teed.tee();
  const both = Promise.all([checkEvents(left), checkEvents(right)]);
  assertEquals([await teed.text(), (await both).length], ["Three", 2]);
});

Deno.test("promptStream(): result() of a stream that was left early is the aborted run", async () => {
  const { agent } = testAgent([hang({ after: "Half" })]);
  const stream = agent.promptStream("Hi");
  for await (const { type } of stream) if (type === "message_update") break;
  const { stopReason, text } = await stream.result();
  assertEquals([stopReason, text], ["aborted", "Half"]);
});

Deno.test("promptStream(): result() has the error of a failed run and does not reject", async () => {
  const { agent } = testAgent([fail("auth_error", "No key")]);
  assertEquals((await agent.promptStream("Hi").result()).error?.code, "auth_error");
});

Deno.test("text() rejects with the error of a failed run", async () => {
  const { agent } = testAgent([fail("auth_error", "No key", { after: "Half" })]);
  await assertRejects(() => agent.promptStream("Hi").text(), AuthError, "No key");
});

Deno.test("text() rejects when an abort cuts off the run, with its reason as the cause", async () => {
  const { agent } = testAgent([hang({ after: "Half" })]);
  const running = agent.promptStream("Hi").text();
  atFirst(agent, "message_update", () => agent.abort("enough"));
  const error = await assertRejects(() => running, AbortedError);
  assertEquals(error.cause, "enough");
});

Deno.test("text() rejects when a policy cuts off the reply, and has the last reply when it stops the run between turns", async () => {
  const stop = { type: "stop", reason: "spent" } as const;
  const { agent } = testAgent([reply("Whole")]);
  const inReply = agent.promptStream("Hi", {
    policies: [{ name: "spending", onDelta: () => stop }],
  });
  await assertRejects(() => inReply.text(), BudgetExceededError, "spent");
  const between = agent.promptStream("Hi", {
    policies: [{ name: "spending", postTurn: () => stop }],
  });
  assertEquals(await between.text(), "Whole");
});

Deno.test("text() has the last reply of a run that waits for approvals", async () => {
  const { agent } = testAgent([reply([text("May I?"), toolCall("look")])], {
    tools: [look()],
    approve: () => ({ type: "pending" }),
  });
  assertEquals(await agent.promptStream("Look").text(), "May I?");
});

Deno.test("promptStream(): misuse errors the stream, text() and result()", async () => {
  const { agent } = testAgent([]);
  const stream = agent.promptStream("");
  await assertRejects(() => stream.text(), NoMessagesError);
  await assertRejects(() => stream.result(), NoMessagesError);
  await assertRejects(() => checkEvents(agent.promptStream("")), NoMessagesError);
  const { agent: busy } = testAgent([hang({ after: "Half" })]);
  const running = busy.promptStream("Hi");
  await assertRejects(() => busy.promptStream("Hi").result(), AlreadyRunningError);
  await running.cancel();
});

Deno.test("promptStream(): misuse that is not awaited raises no unhandled rejection", async () => {
  const { agent } = testAgent([]);
  agent.promptStream("");
  agent.continueStream();
  const stream = agent.promptStream("");
  await assertRejects(() => stream.getReader().read(), NoMessagesError);
  await settle();
});

/** Reads the body of a response to its end and returns its text and its content type. */
async function readResponse(response: Response): Promise<[string | null, string]> {
  return [response.headers.get("content-type"), await response.text()];
}

Deno.test("toResponse(): sse has one event for each event, with its number, type and JSON", async () => {
  const { agent, seen } = testAgent([reply("Hello\nthere")]);
  const response = agent.promptStream("Hi").toResponse();
  assertEquals([response.status, response.headers.get("x-accel-buffering")], [200, "no"]);
  // Servers would compress the body, and send it at its end.
  assertEquals(response.headers.get("cache-control"), "no-store, no-transform");
  const [type, body] = await readResponse(response);
  assertEquals(type, "text/event-stream; charset=utf-8");
  const expected = seen.map((event) =>
    `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  );
  assertEquals(body, expected.join(""));
  assertEquals(seen.length, 12);
});

Deno.test("toResponse(): a body leaves no timer if it is not read, or not after agent_end", async () => {
  const { agent } = testAgent([reply("Hello"), reply("Hello")]);
  const unread = agent.promptStream("Hi").toResponse();
  await settle();
  agent.abort();
  await agent.waitForIdle();
  assertEquals(unread.bodyUsed, false);
  const { body } = agent.promptStream("Hi").toResponse();
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  while (!(await reader?.read())?.value?.includes("agent_end"));
  // The test runner reports timers that are left.
});

Deno.test("toResponse(): several cookies of the headers are all set", async () => {
  const { agent } = testAgent([reply("Hello")]);
  const headers = new Headers([["set-cookie", "session=1"], ["set-cookie", "theme=dark"]]);
  const response = agent.promptStream("Hi").toResponse({ headers });
  await response.text();
  const misuse = agent.promptStream("").toResponse({ headers });
  for (const { headers } of [response, misuse]) {
    assertEquals(headers.getSetCookie(), ["session=1", "theme=dark"]);
  }
});

Deno.test("toResponse(): ndjson has one line for each event, which parses to the event", async () => {
  const { agent, seen } = testAgent([fail("auth_error", "No key")]);
  const [type, body] = await readResponse(
    agent.promptStream("Hi").toResponse({ format: "ndjson" }),
  );
  assertEquals(type, "application/x-ndjson; charset=utf-8");
  const lines = body.split("\n");
  assertEquals(lines.pop(), "");
  assertEquals(lines.map((line) => JSON.parse(line)), JSON.parse(JSON.stringify(seen)));
});

Deno.test("toResponse(): text has the text of the replies as it arrives, without thinking and calls", async () => {
  const { agent } = testAgent([
    reply([thinking("Hm"), text("Let me look. "), toolCall("look")]),
    reply("A cat 🐈"),
  ], { tools: [look()] });
  const [type, body] = await readResponse(
    agent.promptStream("Look").toResponse({ format: "text" }),
  );
  assertEquals([type, body], ["text/plain; charset=utf-8", "Let me look. A cat 🐈"]);
});

for (const format of ["sse", "ndjson", "text"] as const) {
  Deno.test(`toResponse(): misuse is an error status with the error as JSON, in the format ${format}`, async () => {
    const { agent } = testAgent([reply("Hello"), hang()]);
    const options = { format, headers: { "x-run": "1", "content-type": "text/html" } };
    const describe = async (response: Response): Promise<unknown[]> => {
      const { error } = await response.json();
      return [response.status, error.code, typeof error.message];
    };
    const empty = agent.promptStream("").toResponse(options);
    assertEquals([empty.headers.get("content-type"), empty.headers.get("x-run")], [
      "application/json",
      "1",
    ]);
    assertEquals(await describe(empty), [400, "no_messages", "string"]);
    const invalid = agent.promptStream("Hi", { maxTurns: -1 }).toResponse(options);
    assertEquals(await describe(invalid), [400, "bad_request", "string"]);
    await agent.prompt("Hi");
    const finished = agent.continueStream().toResponse(options);
    assertEquals(await describe(finished), [409, "invalid_continue", "string"]);
    const running = agent.promptStream("Hi");
    const busy = agent.promptStream("Hi").toResponse(options);
    assertEquals(await describe(busy), [409, "already_running", "string"]);
    await running.cancel();
  });
}

Deno.test("toResponse(): an impossible status is refused, and the stream can still be read", async () => {
  for (const status of [99, 101, 204, 205, 304, 600, NaN]) {
    const { agent } = testAgent([reply("Hello")]);
    const stream = agent.promptStream("Hi");
    assertThrows(() => stream.toResponse({ status }));
    assertEquals(await stream.text(), "Hello");
  }
});

Deno.test("toResponse(): an error of the application before the run is status 500, without its message", async () => {
  const streamOptions = {
    get temperature(): number {
      throw new Error("secret");
    },
  };
  const { agent } = testAgent([]);
  const response = agent.promptStream("Hi", { streamOptions }).toResponse();
  assertEquals([response.status, await response.json()], [500, {
    error: { code: "stream_error", message: "The run could not be started" },
  }]);
});

Deno.test("toResponse(): a failure errors the text body after the text that arrived, and the agent is idle", async () => {
  const { agent } = testAgent([
    fail("auth_error", "No key", { after: "Half" }),
    fail("auth_error", "No key"),
  ]);
  const body = agent.promptStream("Hi").toResponse({ format: "text" }).body?.getReader();
  assert(body);
  assertEquals(new TextDecoder().decode((await body.read()).value), "Half");
  await assertRejects(() => body.read(), AuthError, "No key");
  await agent.waitForIdle();
  const empty = agent.promptStream("Hi").toResponse({ format: "text" });
  await assertRejects(() => empty.text(), AuthError, "No key");
});

Deno.test("toResponse(): a listener that changes agent_end does not hide a failure from the text body", async () => {
  const { agent } = testAgent([fail("auth_error", "No key")]);
  agent.subscribe((event) => {
    if (event.type === "agent_end") Object.assign(event, { error: undefined, stopReason: "stop" });
  });
  const response = agent.promptStream("Hi").toResponse({ format: "text" });
  await assertRejects(() => response.text(), AuthError);
});

Deno.test("toResponse(): result() may be called after it, and is misuse when it reads the stream already", async () => {
  const { agent } = testAgent([reply("One"), reply("Two")]);
  const first = agent.promptStream("Hi");
  const response = first.toResponse({ format: "text" });
  const [body, { text: answer }] = await Promise.all([response.text(), first.result()]);
  assertEquals([body, answer], ["One", "One"]);
  const second = agent.promptStream("Hi");
  const result = second.result();
  await Promise.resolve();
  assertThrows(() => second.toResponse(), TypeError, "call toResponse() first");
  assertEquals((await result).text, "Two");
});

Deno.test("toResponse(): an abort errors the text body", async () => {
  const { agent } = testAgent([hang({ after: "Half" })]);
  const response = agent.promptStream("Hi").toResponse({ format: "text" });
  atFirst(agent, "message_update", () => agent.abort("enough"));
  await assertRejects(() => response.text(), AbortedError);
});

Deno.test("toResponse(): takes a status and headers, which replace its own", async () => {
  const { agent } = testAgent([reply("Hello")]);
  const response = agent.promptStream("Hi").toResponse({
    format: "text",
    status: 201,
    headers: { "x-run": "1", "cache-control": "private" },
  });
  assertEquals([
    response.status,
    response.headers.get("x-run"),
    response.headers.get("cache-control"),
    response.headers.get("content-type"),
  ], [201, "1", "private", "text/plain; charset=utf-8"]);
  await response.body?.cancel();
});

Deno.test("toResponse() throws for an unknown format, and the stream can still be read", async () => {
  const { agent } = testAgent([reply("Hello")]);
  const stream = agent.promptStream("Hi");
  for (const format of ["json", "toString", "__proto__"]) {
    assertThrows(
      () => stream.toResponse({ format: format as "sse" }),
      BadRequestError,
      "format must be one of sse, ndjson, text",
    );
  }
  assertEquals(await stream.text(), "Hello");
});

Deno.test("toResponse(): a comment comes within 10 seconds of silence, after which Bun ends a connection", async () => {
  using time = new FakeTime();
  const { agent } = testAgent([hang({ after: "Hel" })]);
  const reader = agent.promptStream("Hi").toResponse().body?.pipeThrough(new TextDecoderStream())
    .getReader();
  let text = "";
  const reading = (async () => {
    for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
      text += part.value;
    }
  })();
  for (let second = 0; second < 9; second++) await time.tickAsync(1_000);
  assert(text.endsWith(": keep-alive\n\n"), text);
  await reader?.cancel();
  await reading;
});

Deno.test("toResponse(): keepAliveMs must be a number of at least 0, and the stream can still be read", async () => {
  const { agent } = testAgent([reply("Hello")]);
  const stream = agent.promptStream("Hi");
  for (const keepAliveMs of [-1, NaN, "15s" as never]) {
    assertThrows(() => stream.toResponse({ keepAliveMs }), BadRequestError, "keepAliveMs must be");
  }
  assertEquals(await stream.text(), "Hello");
});

for (const format of ["sse", "ndjson", "text"] as const) {
  Deno.test(`toResponse(): cancelling the ${format} body aborts the run, and result() has its end`, async () => {
    const { agent } = testAgent([hang({ after: "Half" })]);
    const stream = agent.promptStream("Hi");
    const body = stream.toResponse({ format }).body?.getReader();
    assert(body);
    await body.read();
    await body.cancel("connection closed");
    const { stopReason, abortReason, text } = await stream.result();
    assertEquals([stopReason, abortReason], ["aborted", "connection closed"]);
    assertEquals(["", "Half"].includes(text), true);
    assertEquals(agent.state.isRunning, false);
  });
}

Deno.test("toResponse(): a retry, which takes back text, shows all text that arrived in the text format", async () => {
  const { agent } = testAgent([
    fail("network_error", "Reset", { after: "Half " }),
    reply("Whole"),
  ], scriptedPorts(new InstantClock()));
  const response = agent.promptStream("Hi").toResponse({ format: "text" });
  assertEquals(await response.text(), "Half Whole");
});

Deno.test("toResponse(): an abort reason that is not JSON becomes a warning, and the body ends", async () => {
  const { agent } = testAgent([hang({ after: "Half" })]);
  const stream = agent.promptStream("Hi");
  agent.subscribe(({ type }) => void (type === "message_update" && agent.abort({ n: 5n })));
  const body = await stream.toResponse({ format: "ndjson" }).text();
  const last = JSON.parse(body.trim().split("\n").at(-1) ?? "");
  assertEquals([last.type, last.code], ["warning", "event_not_serializable"]);
});

Deno.test("toResponse(): the body is pulled, so that a slow reader pauses the run", async () => {
  const { agent, streamFn } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [look()],
  });
  const response = agent.promptStream("Look").toResponse({ format: "ndjson" });
  await settle();
  assertEquals(streamFn.calls.length, 0);
  await response.text();
  streamFn.assertDone();
});

Deno.test("prompt(): creates no ReadableStream, whose code some runtimes load on first use", async () => {
  async function* stream(): AsyncGenerator<AssistantMessageEvent> {
    yield { type: "start" };
    yield { type: "text_start", contentIndex: 0 };
    yield { type: "text_delta", contentIndex: 0, delta: "Hello" };
    yield { type: "text_end", contentIndex: 0 };
    yield { type: "done", stopReason: "stop", usage: zeroUsage() };
  }
  const agent = new Agent({ model: "test/model", streamFn: stream });
  const native = Object.getOwnPropertyDescriptor(globalThis, "ReadableStream");
  assert(native);
  let reads = 0;
  Object.defineProperty(globalThis, "ReadableStream", {
    configurable: true,
    get: () => reads++,
  });
  try {
    const { text } = await agent.prompt("Hi");
    assertEquals([text, reads], ["Hello", 0]);
  } finally {
    Object.defineProperty(globalThis, "ReadableStream", native);
  }
});

Deno.test("AgentStream: may be read after result(), text() or both have been called", async () => {
  const { agent } = testAgent([reply("one"), reply("two")]);
  const stream = agent.promptStream("Hi");
  const outcome = Promise.all([stream.result(), stream.text()]);
  const events = await checkEvents(stream);
  assertEquals([events.at(0)?.type, events.at(-1)?.type], ["agent_start", "agent_end"]);
  assertEquals((await outcome)[1], "one");

  const answered = agent.promptStream("Hi");
  const result = answered.result();
  assertEquals(await answered.toResponse({ format: "text" }).text(), "two");
  assertEquals((await result).text, "two");
});
