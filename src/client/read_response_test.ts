import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { testAgent } from "../../tests/conformance/test_agent.ts";
import { startThreadTimer } from "../../tests/thread_time.ts";
import type { AgentStream } from "../agent/agent_stream.ts";
import {
  AbortedError,
  AgentError,
  AlreadyRunningError,
  AuthError,
  BadRequestError,
  NetworkError,
  StreamError,
} from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import {
  checkEvents,
  collectEvents,
  fail,
  fakeTool,
  hang,
  reply,
  toolCall,
} from "../testing/mod.ts";
import { readResponse } from "./mod.ts";

/** A run with a tool call and letters of several bytes. */
function startRun(): AgentStream {
  const { agent } = testAgent(
    [reply([toolCall("look", { path: "ä" })]), reply("Grüße 👋")],
    { tools: [fakeTool({ name: "look" })] },
  );
  return agent.promptStream("Hi");
}

/** Returns the bytes of the response of a run. */
async function readBytes(format: "sse" | "ndjson"): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await startRun().toResponse({ format }).arrayBuffer());
}

const CONTENT_TYPES = { sse: "text/event-stream", ndjson: "application/x-ndjson" };

/** Creates a response with a body that arrives in these chunks. */
function respond(format: "sse" | "ndjson", ...chunks: Uint8Array<ArrayBuffer>[]): Response {
  const body = ReadableStream.from(chunks);
  return new Response(body, { headers: { "content-type": CONTENT_TYPES[format] } });
}

function respondWithMessages(messages: string): Response {
  return respond(
    "sse",
    new TextEncoder().encode(`data: {"type":"agent_end","messages":${messages}}\n\n`),
  );
}

/** Bytes between the places where a body is cut off, except for its end. */
const STEP = Deno.env.get("SWINK_PROVE") === "1" ? 7 : 23;

/** An event that is nested so deep that its errors cannot be restored. */
const NESTED_EVENT = `${'{"type":"sub_agent","path":[],"event":'.repeat(50_000)}{"type":"warning"}${
  "}".repeat(50_000)
}`;

for (const format of ["sse", "ndjson"] as const) {
  Deno.test(`readResponse(): the events and the result of a run are the same in the format ${format}`, async () => {
    const expected = await collectEvents(startRun());
    const stream = readResponse(startRun().toResponse({ format }));
    assertEquals(await checkEvents(stream), expected);
    assertEquals(await stream.result(), await startRun().result());
    assertEquals(await stream.text(), "Grüße 👋");
  });

  Deno.test(`readResponse(): text() and result() read the response themselves in the format ${format}`, async () => {
    assertEquals(await readResponse(startRun().toResponse({ format })).text(), "Grüße 👋");
    const { text, turns } = await readResponse(startRun().toResponse({ format })).result();
    assertEquals([text, turns], ["Grüße 👋", 2]);
  });

  Deno.test(`readResponse(): a body in single bytes has the same events in the format ${format}`, async () => {
    const bytes = await readBytes(format);
    const chunks = Array.from(bytes, (_byte, index) => bytes.slice(index, index + 1));
    assertEquals(
      await collectEvents(readResponse(respond(format, ...chunks))),
      await collectEvents(startRun()),
    );
  });

  Deno.test(`readResponse(): a body that is cut off at any byte ends with a network error in the format ${format}`, async () => {
    const bytes = await readBytes(format);
    const complete = await collectEvents(startRun());
    // Without the last line break, the last event is incomplete.
    for (let length = 0; length < bytes.length; length += length < bytes.length - 50 ? STEP : 1) {
      const stream = readResponse(respond(format, bytes.slice(0, length)));
      const events: AgentEvent[] = [];
      const error = await assertRejects(async () => {
        for await (const event of stream) events.push(event);
      }, NetworkError);
      assertEquals(error.retryable, true);
      assertEquals(events, complete.slice(0, events.length));
      assert(events.length < complete.length);
      await assertRejects(() => stream.result(), NetworkError);
    }
  });
}

Deno.test("readResponse(): accepts CRLF, comments and events without a space, as proxies send them", async () => {
  const text = new TextDecoder().decode(await readBytes("sse"))
    .replaceAll("\n\n", "\n\n: keep-alive\n\n").replaceAll("data: ", "data:").replaceAll(
      "\n",
      "\r\n",
    );
  const stream = readResponse(respond("sse", new TextEncoder().encode(text)));
  assertEquals(await collectEvents(stream), await collectEvents(startRun()));
});

Deno.test("readResponse(): the error of a failed run is an instance of its class, in the events and the result", async () => {
  const { agent } = testAgent([fail("auth_error", "No key", { status: 401 })]);
  const stream = readResponse(agent.promptStream("Hi").toResponse());
  const events = await collectEvents(stream);
  const end = events.at(-1);
  assert(end?.type === "agent_end" && end.error instanceof AuthError);
  const { error } = await stream.result();
  assertEquals([error instanceof AuthError, error?.message], [true, "No key"]);
  await assertRejects(() => stream.text(), AuthError, "No key");
});

Deno.test("readResponse(): the stream fails with the error of the server when there is no run", async () => {
  const { agent } = testAgent([hang()]);
  const running = agent.prompt("Hi");
  const stream = readResponse(agent.promptStream("Again").toResponse());
  const error = await assertRejects(() => collectEvents(stream), AlreadyRunningError);
  assertEquals(error.status, 409);
  await assertRejects(() => stream.text(), AlreadyRunningError);
  agent.abort();
  await running;
});

Deno.test("readResponse(): cancelling the stream aborts the run", async () => {
  const { agent } = testAgent([hang({ after: "Hel" })]);
  const stream = readResponse(agent.promptStream("Hi").toResponse());
  for await (const event of stream) if (event.type === "message_update") break;
  await agent.waitForIdle();
  assertEquals(agent.state.isRunning, false);
  await assertRejects(() => stream.result(), AbortedError, "cancelled");
});

Deno.test("readResponse(): an aborted request and a broken connection fail the stream", async () => {
  for (
    const [cause, expected] of [
      [new DOMException("aborted", "AbortError"), AbortedError],
      [new TypeError("connection reset"), NetworkError],
    ] as const
  ) {
    const body = new ReadableStream({ pull: (controller) => controller.error(cause) });
    const headers = { "content-type": "text/event-stream" };
    const stream = readResponse(new Response(body, { headers }));
    const error = await assertRejects(() => stream.text(), expected);
    assertEquals(error.cause, cause);
  }
});

Deno.test("readResponse(): the stream ends after agent_end and closes the connection, which a server may keep open", async () => {
  const bytes = await readBytes("sse");
  for (const finish of ["stream", "result"] as const) {
    let isCancelled = false;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(bytes),
      cancel() {
        isCancelled = true;
        return new Promise(() => {});
      },
    });
    const stream = readResponse(
      new Response(body, { headers: { "content-type": CONTENT_TYPES.sse } }),
    );
    if (finish === "stream") await checkEvents(stream);
    assertEquals((await stream.result()).text, "Grüße 👋");
    assertEquals(isCancelled, true);
  }
});

Deno.test("readResponse(): a response of another type is cancelled, also if that never ends", async () => {
  const body = new ReadableStream({ cancel: () => new Promise(() => {}) });
  await assertRejects(() => readResponse(new Response(body)).text(), BadRequestError);
});

Deno.test("readResponse(): result() and text() resolve while the stream is read elsewhere", async () => {
  const stream = readResponse(startRun().toResponse());
  const reader = stream.getReader();
  const outcomes = Promise.all([stream.result(), stream.text()]);
  while (!(await reader.read()).done);
  const [result, text] = await outcomes;
  assertEquals([result.text, text], ["Grüße 👋", "Grüße 👋"]);
});

Deno.test("readResponse(): joins the lines of data of an event with newlines", async () => {
  const sse = { headers: { "content-type": "Text/Event-Stream; charset=utf-8" } };
  const lines = 'data: {"type":"custom",\ndata: "name":"n","data":1}\n\n';
  assertEquals(await readTypes(new Response(lines, sse)), ["custom", "network_error"]);
  const digits = 'data: {"type":"custom","name":"n","data":1\ndata: 2}\n\n';
  assertEquals(await readTypes(new Response(digits, sse)), ["stream_error"]);
});

Deno.test("readResponse(): malformed events and other responses fail the stream", async () => {
  const html = { headers: { "content-type": "text/html" } };
  const sse = { headers: { "content-type": "text/event-stream" } };
  const page = new Response("<p>Bad gateway</p>", { ...html, status: 502 });
  for (
    const [response, expected, message] of [
      [new Response("data: {\n\n", sse), StreamError, "a malformed event: "],
      [new Response("data: 5\n\n", sse), StreamError, "it has no type"],
      [new Response('data: {"type":"agent_end"}\n\n', sse), StreamError, "has no messages"],
      [respondWithMessages("[null]"), StreamError, "a message must be an object"],
      [
        respondWithMessages('[{"role":"assistant","content":"Hi"}]'),
        StreamError,
        "must be an array",
      ],
      [new Response(`data: ${NESTED_EVENT}\n\n`, sse), StreamError, "a malformed event"],
      [new Response("<p>Hi</p>", html), BadRequestError, 'content type "text/html"'],
      [startRun().toResponse({ format: "text" }), BadRequestError, 'content type "text/plain"'],
      [page, NetworkError, "status 502"],
      [new Response("no", { status: 404 }), BadRequestError, "status 404"],
      [Response.json({ error: { code: 5 } }, { status: 500 }), NetworkError, "status 500"],
      [
        Response.json({ error: { message: "No such page" } }, { status: 404 }),
        BadRequestError,
        "status 404: No such page",
      ],
      [new Response(null, sse), NetworkError, "closed before the run ended"],
    ] as const
  ) {
    const error = await assertRejects(() => readResponse(response).text(), expected, message);
    assert(AgentError.is(error));
  }
});

for (const format of ["sse", "ndjson"] as const) {
  Deno.test(`readResponse(): a malformed event has the same effect in any chunks in the format ${format}`, async () => {
    const bytes = await readBytes(format);
    const end = format === "sse" ? "\n\n" : "\n";
    const events = new TextDecoder().decode(bytes).split(end).slice(0, -1);
    const malformed = new TextEncoder().encode(`${format === "sse" ? "data: " : ""}{${end}`);
    for (let position = 0; position <= events.length; position++) {
      const length = new TextEncoder().encode(
        events.slice(0, position).map((event) => event + end).join(""),
      ).length;
      const parts = [bytes.slice(0, length), malformed, bytes.slice(length)];
      const joined = new Uint8Array(parts.flatMap((part) => [...part]));
      const outcomes = await Promise.all(
        [respond(format, ...parts), respond(format, joined)].map(readTypes),
      );
      const isComplete = position === events.length;
      const types = (await collectEvents(startRun())).slice(0, position).map(({ type }) => type);
      const expected = isComplete ? types : [...types, "stream_error"];
      assertEquals(outcomes, [expected, expected]);
    }
  });

  Deno.test(`readResponse(): reads 50,000 events of one chunk in linear time in the format ${format}`, async () => {
    const line = '{"type":"custom","name":"n","data":1}';
    const text = format === "sse" ? `data: ${line}\n\n` : `${line}\n`;
    const bytes = new TextEncoder().encode(text.repeat(50_000));
    const getThreadTime = startThreadTimer();
    assertEquals((await readTypes(respond(format, bytes))).length, 50_001);
    // Quadratic work takes eight seconds.
    assert(getThreadTime() < 3_000);
  });
}

/** Reads the types of the events of a response, and the code of its error. */
async function readTypes(response: Response): Promise<string[]> {
  const types: string[] = [];
  try {
    for await (const { type } of readResponse(response)) types.push(type);
  } catch (error) {
    assert(AgentError.is(error));
    types.push(error.code);
  }
  return types;
}

Deno.test("readResponse(): throws for a value that is no response, and for a body that is being read", async () => {
  for (const value of [null, undefined, "x", 5, {}, []]) {
    assertThrows(
      () => readResponse(value as unknown as Response),
      BadRequestError,
      "Pass the response",
    );
  }
  const response = new Response("x");
  await response.text();
  assertThrows(() => readResponse(response), BadRequestError, "Pass the response");
});

Deno.test("readResponse(): a second stream of the same response fails, and the first one does not", async () => {
  const response = startRun().toResponse();
  const [first, second] = [readResponse(response), readResponse(response)];
  const text = first.text();
  await assertRejects(() => second.text(), BadRequestError, "a body that is not being read");
  assertEquals(await text, "Grüße 👋");
});

Deno.test("readResponse(): the events may be read after result() has been called", async () => {
  const stream = readResponse(startRun().toResponse());
  const result = stream.result();
  const events = await collectEvents(stream);
  assertEquals(events.at(-1)?.type, "agent_end");
  assertEquals((await result).text, "Grüße 👋");
});

Deno.test("readResponse(): skips the comments that keepAliveMs adds while a tool takes its time", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<string>();
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [{ ...fakeTool({ name: "look" }), execute: () => released }],
  });
  const { body } = agent.promptStream("Look").toResponse({ keepAliveMs: 1 });
  let comments = 0;
  const watched = body?.pipeThrough(
    new TransformStream({
      transform(chunk: Uint8Array, controller) {
        if (new TextDecoder().decode(chunk).startsWith(": ")) comments++;
        if (comments > 1) release("seen");
        controller.enqueue(chunk);
      },
    }),
  );
  const response = new Response(watched, { headers: { "content-type": "text/event-stream" } });
  assertEquals(await readResponse(response).text(), "Seen");
});
