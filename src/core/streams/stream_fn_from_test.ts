import { assert, assertEquals, assertThrows } from "@std/assert";
import { withDeadline } from "../../../tests/deadline.ts";
import { waitUntil } from "../../../tests/wait_until.ts";
import { Agent } from "../../agent/agent.ts";
import { readReply } from "../../testing/read_reply.ts";
import { type AgentError, AuthError, BadRequestError, getErrorMessage } from "../errors/errors.ts";
import { zeroUsage } from "../models/usage.ts";
import { createDeferred } from "../ports/deferred.ts";
import { defineTool } from "../tools/tool.ts";
import type { AssistantMessageEvent, StreamRequest } from "./stream.ts";
import { type ReplyTarget, streamFnFrom, type WriteReply } from "./stream_fn_from.ts";

const END = { stopReason: "stop", usage: zeroUsage() } as const;

function createRequest(overrides: Partial<StreamRequest> = {}): StreamRequest {
  return {
    model: { provider: "acme", modelId: "acme-1", thinkingLevel: "off" },
    context: { systemPrompt: "", messages: [], tools: [] },
    options: {},
    signal: new AbortController().signal,
    ...overrides,
  };
}

/** Starts a reply that stays open, and returns its parts once it has been started. */
async function openReply(request: StreamRequest) {
  const opened = createDeferred<{ request: StreamRequest } & ReplyTarget>();
  const held = createDeferred<void>();
  const streamFn = streamFnFrom((request, target) => {
    opened.resolve({ request, ...target });
    target.writer.writeText("so far");
    return held.promise;
  });
  const events = streamFn(request)[Symbol.asyncIterator]();
  const types: string[] = [];
  const read = async () => {
    const { done, value } = await events.next();
    if (!done) types.push(value.type);
    return done ? undefined : value;
  };
  await read();
  return { ...await opened.promise, events, types, read, held };
}

Deno.test("streamFnFrom(): writes a reply in the order of the events", async () => {
  const streamFn = streamFnFrom(async (_request, { writer }) => {
    writer.writeThinking("Hm.");
    writer.writeText("Let me ");
    await Promise.resolve();
    writer.writeText("add.");
    writer.writeToolCall("c1", "add", '{"x":1}');
    writer.finish({ stopReason: "tool_use", usage: zeroUsage() });
    writer.writeText("late");
  });
  const events = await Array.fromAsync<AssistantMessageEvent>(streamFn(createRequest()));
  assertEquals(events, [
    { type: "start" },
    { type: "thinking_start", contentIndex: 0 },
    { type: "thinking_delta", contentIndex: 0, delta: "Hm." },
    { type: "thinking_end", contentIndex: 0 },
    { type: "text_start", contentIndex: 1 },
    { type: "text_delta", contentIndex: 1, delta: "Let me " },
    { type: "text_delta", contentIndex: 1, delta: "add." },
    { type: "text_end", contentIndex: 1 },
    { type: "tool_call_start", contentIndex: 2, id: "c1", name: "add" },
    { type: "tool_call_delta", contentIndex: 2, delta: '{"x":1}' },
    { type: "tool_call_end", contentIndex: 2 },
    { type: "done", stopReason: "tool_use", usage: zeroUsage() },
  ]);
});

Deno.test("streamFnFrom(): an agent calls the model again with the results of tools", async () => {
  let calls = 0;
  const streamFn = streamFnFrom(({ context: { messages } }, { writer }) => {
    if (calls++ === 0) {
      writer.writeToolCall("c1", "add", '{"x":1}');
      writer.finish({ stopReason: "tool_use", usage: zeroUsage() });
    } else {
      writer.writeText(`${messages.length} messages`);
      writer.finish(END);
    }
  });
  const add = defineTool({
    name: "add",
    description: "Adds.",
    parameters: { type: "object" },
    execute: () => "2",
  });
  const agent = new Agent({ model: "acme/acme-1", streamFn, tools: [add] });
  assertEquals((await agent.prompt("1 + 1?")).text, "3 messages");
});

Deno.test("streamFnFrom(): the reply is written when its first event is read", async () => {
  let calls = 0;
  const streamFn = streamFnFrom((_request, { writer }) => {
    calls++;
    writer.finish(END);
  });
  const events = streamFn(createRequest());
  assertEquals(calls, 0);
  await readReply(events);
  assertEquals(calls, 1);
});

Deno.test("streamFnFrom(): an error ends the reply, and keeps what was written", async () => {
  const fail = (thrown: unknown) =>
    readReply(
      streamFnFrom((_request, { writer }) => {
        writer.writeText("so far");
        throw thrown;
      })(createRequest({ options: { apiKey: "sk-secret-1" } })),
    );
  const unknown = await fail(new TypeError("no model at https://host/?key=sk-secret-1"));
  assertEquals(unknown.error?.code, "stream_error");
  assertEquals(
    unknown.error?.message,
    "The model acme-1 failed: no model at https://host/?key=[redacted]",
  );
  assertEquals(unknown.content, [{ type: "text", text: "so far" }]);
  const error = new AuthError("The license has expired");
  assertEquals((await fail(error)).error, error);
  const redacted = await fail(new AuthError("Wrong key: sk-secret-1"));
  assertEquals([redacted.error?.code, redacted.error?.message], [
    "auth_error",
    "Wrong key: [redacted]",
  ]);
});

Deno.test("streamFnFrom(): no error or warning that a model writes contains the key of the request", async () => {
  const streamFn = streamFnFrom((_request, { writer }) => {
    writer.warning("license", "The key sk-secret-1 expires soon");
    writer.fail(new AuthError("Wrong key: sk-secret-1"));
  });
  const request = createRequest({ options: { apiKey: "sk-secret-1" } });
  const events = await Array.fromAsync<AssistantMessageEvent>(streamFn(request));
  assertEquals(
    events.map((event) => {
      if (event.type === "warning") return event.message;
      return event.type === "error" ? event.error.message : event.type;
    }),
    ["start", "The key [redacted] expires soon", "Wrong key: [redacted]"],
  );
});

Deno.test("streamFnFrom(): a reply ends that a model fails with a value that is no error", async () => {
  for (const thrown of [undefined, null, "plain", new TypeError("plain")]) {
    const { error, content } = await withDeadline(
      readReply(
        streamFnFrom((_request, { writer }) => {
          writer.writeText("so far");
          writer.fail(thrown as AgentError);
        })(createRequest()),
      ),
    );
    assertEquals(error?.code, "stream_error");
    assertEquals(content, [{ type: "text", text: "so far" }]);
  }
});

Deno.test("streamFnFrom(): a reply that is not finished is an error, which says how to end it", async () => {
  const { error, content } = await readReply(
    streamFnFrom((_request, { writer }) => writer.writeText("so far"))(createRequest()),
  );
  assertEquals(error?.code, "stream_error");
  assertEquals(
    error?.message,
    "The model acme-1 has not finished its reply: call writer.finish()",
  );
  assertEquals(content, [{ type: "text", text: "so far" }]);
});

Deno.test("streamFnFrom(): an abort ends a reply at once, and aborts the signal of the model", async () => {
  const controller = new AbortController();
  const reply = await openReply(createRequest({ signal: controller.signal }));
  assertEquals(reply.request.signal.aborted, false);
  controller.abort("enough");
  assertEquals(reply.request.signal.reason, "enough");
  reply.writer.writeText("late");
  while (await reply.read());
  assertEquals(reply.types, ["start", "text_start", "text_delta", "text_end", "error"]);
  reply.held.reject(new Error("aborted")); // Later failures of the model are ignored.
});

Deno.test("streamFnFrom(): a request that is aborted before is not passed to the model", async () => {
  let calls = 0;
  const streamFn = streamFnFrom(() => void calls++);
  const { stopReason, error } = await readReply(
    streamFn(createRequest({ signal: AbortSignal.abort("enough") })),
  );
  assertEquals([stopReason, error?.code, calls], ["aborted", "aborted", 0]);
});

Deno.test("streamFnFrom(): a reader that leaves aborts the signal of the model", async () => {
  const reply = await openReply(createRequest());
  await reply.events.return?.();
  assert(reply.request.signal.aborted);
  assertEquals(getErrorMessage(reply.request.signal.reason), "the stream was cancelled");
  assertEquals(await reply.read(), undefined);
  await reply.drained();
  reply.held.resolve();
});

Deno.test("streamFnFrom(): the signal of a model that has finished is not aborted", async () => {
  const controller = new AbortController();
  let signal: AbortSignal | undefined;
  const streamFn = streamFnFrom((request, { writer }) => {
    signal = request.signal;
    writer.finish(END);
  });
  await readReply(streamFn(createRequest({ signal: controller.signal })));
  controller.abort();
  assertEquals(signal?.aborted, false);
});

Deno.test("streamFnFrom(): a model can wait until its events are read", async () => {
  const written: number[] = [];
  const streamFn = streamFnFrom(async (_request, { writer, drained }) => {
    for (let number = 0; number < 3; number++) {
      writer.writeText(`${number}`);
      written.push(number);
      await drained();
    }
    writer.finish(END);
  });
  const events = streamFn(createRequest())[Symbol.asyncIterator]();
  for (let count = 0; count < 2; count++) await events.next();
  assertEquals(written, [0]);
  await events.next();
  await waitUntil(() => written.length > 1);
  assertEquals(written, [0, 1]);
  await events.return?.();
});

/** Parts that a model writes at most, if it cannot be stopped. */
const MANY = 1_000_000;

Deno.test("streamFnFrom(): a timer can abort a model that never pauses, wherever its events are read", async () => {
  const controller = new AbortController();
  let parts = 0;
  const streamFn = streamFnFrom(async ({ signal }, { writer, drained }) => {
    for (; parts < MANY && !signal.aborted; parts++) {
      writer.writeText("x");
      await drained();
    }
  });
  setTimeout(() => controller.abort());
  const { stopReason } = await readReply(streamFn(createRequest({ signal: controller.signal })));
  assertEquals(stopReason, "aborted");
  assert(parts < MANY);
});

Deno.test("streamFnFrom(): a model that ignores its signal does not block the event loop after the end", async () => {
  const reply = await openReply(createRequest());
  await reply.events.return?.();
  let hasTimerFired = false;
  setTimeout(() => hasTimerFired = true);
  let waits = 0;
  while (!hasTimerFired && waits < MANY) {
    waits++;
    await reply.drained();
  }
  assert(waits < MANY);
  reply.held.resolve();
});

Deno.test("streamFnFrom(): refuses a value that is no function", () => {
  assertThrows(
    () => streamFnFrom("acme" as unknown as WriteReply),
    BadRequestError,
    "write must be a function, not a string",
  );
});
