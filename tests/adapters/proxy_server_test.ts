import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { createProxy, serveProxy, type ServeProxyOptions } from "../../adapters/proxy/mod.ts";
import { BadRequestError, ModelThrottledError } from "../../src/core/errors/errors.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import { THINKING_LEVELS } from "../../src/core/models/model.ts";
import { zeroUsage } from "../../src/core/models/usage.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { text, thinking, toolCall } from "../../src/testing/messages.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { fail, hang, reply, type ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { settle } from "../conformance/ports.ts";
import { serveLoopback } from "./loopback.ts";
import { richRequest } from "./rich_conversation.ts";

const MODEL = {
  provider: "anthropic",
  modelId: "claude-sonnet-5-5",
  thinkingLevel: "low",
} as const;
const LOCAL_CONNECTION = { remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 } };
const ALLOW_ALL: ServeProxyOptions = { authorize: () => true };

function createPost(body: BodyInit, headers: Record<string, string> = {}): Request {
  return new Request("http://localhost/", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    duplex: "half", // which Node needs for a stream
  } as RequestInit);
}

const MINIMAL_BODY = JSON.stringify({
  model: MODEL,
  messages: [{ role: "user", content: [{ type: "text", text: "Hello" }], timestamp: 0 }],
});

async function fetchStatus(
  request: Request,
  options: ServeProxyOptions,
  connection?: { remoteAddr?: unknown },
): Promise<number> {
  const response = await serveProxy(scriptedStream([reply("Hi")]), options)(request, connection);
  await response.body?.cancel();
  return response.status;
}

function createStreamFn(...steps: ScriptedStep[]): StreamFn {
  return scriptedStream(steps);
}

Deno.test("serveProxy(): passes every event of the model to createProxy()", async () => {
  const step = reply([
    thinking("Hm.", { signature: "c2ln" }),
    text("Let me look."),
    toolCall("read_file", { path: "ü.txt" }, { id: "call_1" }),
  ], { usage: { ...zeroUsage(), input: 3, output: 4, total: 7 } });
  const direct = await readReply(createStreamFn(step)(richRequest(MODEL)));
  await using server = serveLoopback(serveProxy(createStreamFn(step), ALLOW_ALL));
  const proxied = await readReply(createProxy({ baseUrl: server.url })(richRequest(MODEL)));
  assertEquals(proxied.events, direct.events);
});

Deno.test("serveProxy(), createProxy(): pass every thinking level and stop reason [1.6]", async () => {
  const stopReasons = ["stop", "length", "tool_use"] as const;
  const model = scriptedStream([
    ...THINKING_LEVELS.map(() => reply("Hi")),
    ...stopReasons.map((stopReason) => reply([toolCall("look")], { stopReason })),
    fail("stream_error", "broken"),
  ]);
  await using server = serveLoopback(serveProxy(model, ALLOW_ALL));
  const streamFn = createProxy({ baseUrl: server.url });
  for (const thinkingLevel of THINKING_LEVELS) {
    await readReply(streamFn(richRequest({ ...MODEL, thinkingLevel })));
  }
  assertEquals(model.calls.map((call) => call.model.thinkingLevel), THINKING_LEVELS);
  for (const stopReason of [...stopReasons, "error"]) {
    assertEquals((await readReply(streamFn(richRequest(MODEL)))).stopReason, stopReason);
  }
});

Deno.test("serveProxy(): calls the model with the agent's request, without the token", async () => {
  const model = scriptedStream([reply("Hi")]);
  await using server = serveLoopback(serveProxy(model, ALLOW_ALL));
  const request = richRequest(MODEL, { options: { temperature: 0.5, extra: { top_k: 3 } } });
  await readReply(createProxy({ baseUrl: server.url })(request));
  const [call] = model.calls;
  assertEquals(call?.model, request.model);
  assertEquals(call?.context.tools, request.context.tools);
  assertEquals(call?.context.messages.length, request.context.messages.length);
  assertEquals(call?.options, { temperature: 0.5, extra: { top_k: 3 } });
});

Deno.test("serveProxy(): passes every kind of block to the model", async () => {
  const source = { type: "base64", data: "JVBERi0=" } as const;
  const content: ContentBlock[] = [
    text("Read this."),
    { type: "image", source: { ...source, mediaType: "image/png" } },
    { type: "document", mediaType: "application/pdf", source, name: "contract" },
    {
      type: "audio",
      mediaType: "audio/wav",
      source: { type: "url", url: "https://example.org/a" },
    },
    { type: "extension", typeName: "any.item", data: 1 },
  ];
  const model = scriptedStream([reply("Hi")]);
  await using server = serveLoopback(serveProxy(model, ALLOW_ALL));
  const request = richRequest(MODEL);
  const messages = [{ role: "user", content, timestamp: 0 } as const];
  const { stopReason } = await readReply(
    createProxy({ baseUrl: server.url })({ ...request, context: { ...request.context, messages } }),
  );
  assertEquals(stopReason, "stop");
  assertEquals(model.calls[0]?.context.messages[0]?.content, content);
});

Deno.test("serveProxy(): drops the API key and unknown members of the options", async () => {
  const model = scriptedStream([reply("Hi")]);
  const body = {
    ...JSON.parse(MINIMAL_BODY),
    options: { apiKey: "sk-stolen", maxTokens: 7, odd: 1 },
  };
  const response = await serveProxy(model, ALLOW_ALL)(createPost(JSON.stringify(body)));
  await response.text();
  assertEquals(model.calls[0]?.options, { maxTokens: 7 });
});

Deno.test("serveProxy(): rejects a caller unless authorize returns true", async () => {
  const authorize = (token: string) => token === "right";
  assertEquals(
    await fetchStatus(createPost(MINIMAL_BODY, { authorization: "Bearer right" }), { authorize }),
    200,
  );
  assertEquals(
    await fetchStatus(createPost(MINIMAL_BODY, { authorization: "bearer right" }), { authorize }),
    200,
  );
  assertEquals(
    await fetchStatus(createPost(MINIMAL_BODY, { authorization: "Bearer wrong" }), { authorize }),
    401,
  );
  assertEquals(
    await fetchStatus(createPost(MINIMAL_BODY, { authorization: "Basic right" }), { authorize }),
    401,
  );
  assertEquals(await fetchStatus(createPost(MINIMAL_BODY), { authorize }), 401);
  const truthy = (() => "yes") as unknown as () => boolean;
  assertEquals(await fetchStatus(createPost(MINIMAL_BODY), { authorize: truthy }), 401);
});

Deno.test("serveProxy(): passes an empty token, which no unset variable equals, for a caller without one", async () => {
  const unset: string | undefined = undefined;
  assertEquals(
    await fetchStatus(createPost(MINIMAL_BODY), { authorize: (token) => token === unset }),
    401,
  );
});

Deno.test("serveProxy(): responds with 503 and hides the error when authorize fails", async () => {
  const failing: ServeProxyOptions["authorize"][] = [
    () => {
      throw new Error("database at 10.0.0.7 is down");
    },
    () => Promise.reject(new Error("database at 10.0.0.7 is down")),
  ];
  for (const authorize of failing) {
    const response = await serveProxy(createStreamFn(reply("Hi")), { authorize })(
      createPost(MINIMAL_BODY),
    );
    assertEquals(response.status, 503);
    assert(!(await response.text()).includes("10.0.0.7"));
  }
});

Deno.test("serveProxy(): responds with 503 when authorize does not settle within authorizeTimeoutMs", async () => {
  const clock = new ManualClock();
  const hanging = Promise.withResolvers<boolean>();
  const options = { authorize: () => hanging.promise, clock, authorizeTimeoutMs: 1000 };
  const responding = serveProxy(createStreamFn(reply("Hi")), options)(createPost(MINIMAL_BODY));
  await settle();
  clock.advance(1000);
  assertEquals([(await responding).status, clock.sleepers], [503, 0]);
  hanging.reject(new Error("too late"));
  await settle();
});

Deno.test("serveProxy(): serves local callers only when authorize is not set", async () => {
  const from = (hostname: unknown) => ({ remoteAddr: { transport: "tcp", hostname, port: 1 } });
  assertEquals(await fetchStatus(createPost(MINIMAL_BODY), {}, LOCAL_CONNECTION), 200);
  assertEquals(await fetchStatus(createPost(MINIMAL_BODY), {}, from("::1")), 200);
  assertEquals(await fetchStatus(createPost(MINIMAL_BODY), {}, from("::ffff:127.0.0.1")), 200);
  assertEquals(await fetchStatus(createPost(MINIMAL_BODY), {}, from("192.168.1.7")), 401);
  assertEquals(
    await fetchStatus(createPost(MINIMAL_BODY), {}, from("127.0.0.1.evil.example")),
    401,
  );
  assertEquals(
    await fetchStatus(createPost(MINIMAL_BODY), {}, { remoteAddr: { path: "/tmp/socket" } }),
    401,
  );
  assertEquals(await fetchStatus(createPost(MINIMAL_BODY), {}), 401);
});

Deno.test("serveProxy(): rejects a local caller when the host name of the URL is not local", async () => {
  const request = new Request("http://rebound.example/", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: MINIMAL_BODY,
  });
  assertEquals(await fetchStatus(request, {}, LOCAL_CONNECTION), 401);
});

Deno.test("serveProxy(): rejects other methods, other content types and invalid JSON", async () => {
  assertEquals(await fetchStatus(new Request("http://localhost/"), ALLOW_ALL), 405);
  assertEquals(
    await fetchStatus(createPost(MINIMAL_BODY, { "content-type": "text/plain" }), ALLOW_ALL),
    415,
  );
  assertEquals(await fetchStatus(createPost("{"), ALLOW_ALL), 400);
});

Deno.test("serveProxy(): rejects a body over the limit without reading the rest", async () => {
  const long = MINIMAL_BODY + " ".repeat(2000);
  assertEquals(await fetchStatus(createPost(long), { ...ALLOW_ALL, maxBodyBytes: 1000 }), 413);
  assertEquals(await fetchStatus(createPost(long), { ...ALLOW_ALL, maxBodyBytes: 10_000 }), 200);
  for (const headers of [{}, { "content-length": `${long.length}` }]) {
    const limits = [long.length, long.length - 1].map((maxBodyBytes) =>
      fetchStatus(createPost(long, headers), { ...ALLOW_ALL, maxBodyBytes })
    );
    assertEquals(await Promise.all(limits), [200, 413]);
  }
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      pulled++;
      controller.enqueue(new Uint8Array(1000).fill(32));
    },
  });
  assertEquals(await fetchStatus(createPost(endless), { ...ALLOW_ALL, maxBodyBytes: 5000 }), 413);
  assert(pulled < 10, `${pulled} chunks were read`);
});

Deno.test("serveProxy(): rejects a body whose connection breaks", async () => {
  const broken = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.error(new TypeError("connection reset")),
  });
  const response = await serveProxy(createStreamFn(), ALLOW_ALL)(createPost(broken));
  assertEquals(response.status, 400);
  assertEquals(
    (await response.json()).error.message,
    "The connection broke while the body was read",
  );
});

Deno.test("serveProxy(): responds with the path of the invalid value in a body", async () => {
  const user = { role: "user", content: [{ type: "text", text: 7 }], timestamp: 0 };
  const invalid: [object, string][] = [
    [{ messages: [] }, "The body.model must be an object"],
    [
      { model: { ...MODEL, modelId: "" }, messages: [] },
      "The body.model.modelId must be a non-empty string",
    ],
    [{ model: { ...MODEL, thinkingLevel: "deep" }, messages: [] }, "The body.model.thinkingLevel"],
    [{ model: MODEL, messages: {} }, "The body.messages must be an array"],
    [{ model: MODEL, messages: [user] }, "The body.messages[0].content[0].text must be a string"],
    [{ model: MODEL, messages: [{ role: "system" }] }, "The body.messages[0].role must be"],
    [{ model: MODEL, messages: [], tools: [{ name: "x" }] }, "The body.tools[0].description"],
    [{ model: MODEL, messages: [], options: { temperature: "hot" } }, "The body.options.temper"],
    [{ model: MODEL, messages: [], options: { toolChoice: 1 } }, "The body.options.toolChoice"],
  ];
  for (const [body, problem] of invalid) {
    const response = await serveProxy(createStreamFn(), ALLOW_ALL)(
      createPost(JSON.stringify(body)),
    );
    assertEquals(response.status, 400);
    const { error } = await response.json();
    assertEquals(error.code, "bad_request");
    assert(error.message.startsWith(problem), error.message);
  }
});

Deno.test("serveProxy(): rejects with an error code that the agent receives", async () => {
  await using server = serveLoopback(serveProxy(createStreamFn(), { authorize: () => false }));
  const { error } = await readReply(createProxy({ baseUrl: server.url })(richRequest(MODEL)));
  assertEquals(error?.code, "auth_error");
  assertMatch(error?.message ?? "", /^proxy answered 401: The proxy does not accept this token/);
});

Deno.test("serveProxy(): sends the model's error without its cause and without keys", async () => {
  const streamFn: StreamFn = () => {
    const error = new ModelThrottledError("openai answered 429 to sk-live-0123456789abcdef", {
      retryAfterMs: 1500,
      provider: "openai",
      cause: new Error("Bearer sk-live-0123456789abcdef"),
    });
    return ReadableStream.from([{ type: "start" }, { type: "error", stopReason: "error", error }]);
  };
  await using server = serveLoopback(serveProxy(streamFn, ALLOW_ALL));
  const { error } = await readReply(createProxy({ baseUrl: server.url })(richRequest(MODEL)));
  assertEquals(error?.toJSON(), {
    code: "model_throttled",
    message: "openai answered 429 to [redacted]",
    retryable: true,
    retryAfterMs: 1500,
    provider: "openai",
  });
});

Deno.test("serveProxy(): fails the reply when the stream function throws or ends without a terminal event", async () => {
  const broken: StreamFn[] = [
    () => {
      throw new Error("broken");
    },
    () => ReadableStream.from([{ type: "start" } as const]),
  ];
  const codes: (string | undefined)[] = [];
  for (const streamFn of broken) {
    await using server = serveLoopback(serveProxy(streamFn, ALLOW_ALL));
    const { error } = await readReply(createProxy({ baseUrl: server.url })(richRequest(MODEL)));
    codes.push(error?.code);
  }
  assertEquals(codes, ["stream_error", "network_error"]);
});

Deno.test("serveProxy(): keeps the error code context_window_overflow", async () => {
  await using server = serveLoopback(
    serveProxy(createStreamFn(fail("context_window_overflow", "full")), ALLOW_ALL),
  );
  const { error } = await readReply(createProxy({ baseUrl: server.url })(richRequest(MODEL)));
  assertEquals(error?.code, "context_window_overflow");
  assertEquals(error?.retryable, false);
});

Deno.test("serveProxy(): aborts the model call when the caller disconnects", async () => {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const streamFn: StreamFn = (request) => {
    request.signal.addEventListener("abort", () => resolve());
    return createStreamFn(hang({ after: "Half" }))(request);
  };
  await using server = serveLoopback(serveProxy(streamFn, ALLOW_ALL));
  const controller = new AbortController();
  const request = { ...richRequest(MODEL), signal: controller.signal };
  for await (const event of createProxy({ baseUrl: server.url })(request)) {
    if (event.type === "text_delta") controller.abort("enough");
  }
  await aborted;
});

Deno.test("serveProxy(): sends available events in one chunk, up to the limit", async () => {
  const words = "many words ".repeat(200);
  const handler = serveProxy(createStreamFn(reply([text(words.repeat(100))])), ALLOW_ALL);
  const { body } = await handler(createPost(MINIMAL_BODY));
  const sizes: number[] = [];
  for await (const chunk of body ?? []) sizes.push(chunk.length);
  assert(sizes.length > 1, "one chunk for all events");
  assert(sizes.every((size) => size < 300_000), `${sizes}`);
  const few = await serveProxy(createStreamFn(reply("Hi")), ALLOW_ALL)(createPost(MINIMAL_BODY));
  assertEquals(few.headers.get("cache-control"), "no-store, no-transform");
  let chunks = 0;
  for await (const _chunk of few.body ?? []) chunks++;
  assertEquals(chunks, 1);
});

Deno.test("serveProxy(): sends comments while the model sends no events", async () => {
  const clock = new ManualClock();
  const handler = serveProxy(createStreamFn(hang({ after: "Half" })), {
    ...ALLOW_ALL,
    clock,
    keepAliveMs: 50,
  });
  const { body } = await handler(createPost(MINIMAL_BODY));
  assert(body);
  const reader = body.getReader();
  const next = async () => {
    const { value, done } = await reader.read();
    if (done) throw new Error("The response ended");
    return new TextDecoder().decode(value);
  };
  while (!(await next()).includes("Half"));
  for (let count = 0; count < 2; count++) {
    const reading = next();
    await settle();
    clock.advanceToNext();
    assertEquals(await reading, ": keep-alive\n\n");
  }
  await reader.cancel();
  assertEquals(clock.sleepers, 0);
});

Deno.test("serveProxy(): rejects forwarded callers when authorize is not set", async () => {
  for (const name of ["forwarded", "via", "x-forwarded-for", "x-real-ip"]) {
    const request = createPost(MINIMAL_BODY, { [name]: "203.0.113.7" });
    assertEquals(await fetchStatus(request, {}, LOCAL_CONNECTION), 401, name);
    const authorized = createPost(MINIMAL_BODY, { [name]: "203.0.113.7" });
    assertEquals(await fetchStatus(authorized, ALLOW_ALL, LOCAL_CONNECTION), 200, name);
  }
});

Deno.test("serveProxy(): rejects a body that does not end within bodyTimeoutMs, and stops reading it", async () => {
  const clock = new ManualClock();
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
    cancel: () => {
      isCancelled = true;
    },
  });
  const handler = serveProxy(createStreamFn(), { ...ALLOW_ALL, clock, bodyTimeoutMs: 1000 });
  const responding = handler(createPost(body));
  await settle();
  clock.advance(1000);
  const response = await responding;
  assertEquals([response.status, isCancelled, clock.sleepers], [408, true, 0]);
  assertEquals((await response.json()).error.code, "network_error");
});

Deno.test("serveProxy(): redacts keys in warnings and their data", async () => {
  const key = "sk-abcdefghijklmnop1234";
  const events = [
    { type: "start" },
    { type: "warning", code: "odd", message: `Used ${key}`, data: { header: `Bearer ${key}` } },
    { type: "done", stopReason: "stop", usage: zeroUsage() },
  ] as const;
  const response = await serveProxy(createStreamFn(events), ALLOW_ALL)(createPost(MINIMAL_BODY));
  const text = await response.text();
  assertEquals(text.includes(key), false);
  assertMatch(text, /"message":"Used \[redacted\]","data":\{"header":"Bearer \[redacted\]"\}/);
});

Deno.test("serveProxy(): an event that is not JSON ends the reply with an error, and the proxy stays up", async () => {
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  for (const event of [null, { type: "warning", data: 5n }, { type: "extension", data: loop }]) {
    const handler = serveProxy(createStreamFn([{ type: "start" }, event] as never), ALLOW_ALL);
    const body = await (await handler(createPost(MINIMAL_BODY))).text();
    assertMatch(body, /"type":"error","stopReason":"error","error":\{"code":"stream_error"/);
  }
});

Deno.test("serveProxy(): throws for an unknown option, such as a misspelt authorize", () => {
  const options: object = { Authorize: () => true };
  assertThrows(
    () => serveProxy(scriptedStream([]), options),
    BadRequestError,
    'Unknown option "Authorize" of serveProxy(): did you mean authorize?',
  );
});

Deno.test("serveProxy(): throws for values of other types", () => {
  for (const streamFn of [null, undefined, {}]) {
    const message = "serveProxy() needs a stream function: pass one such as connect()";
    assertThrows(() => serveProxy(streamFn as never, ALLOW_ALL), BadRequestError, message);
  }
  for (const [options, type] of [[null, "null"], [5, "5"], [[], "a list"]] as const) {
    const message = `The options must be an object, not ${type}`;
    assertThrows(() => serveProxy(scriptedStream([]), options as never), BadRequestError, message);
  }
});

Deno.test("serveProxy(): passes a history with optional fields of other types, which the adapter omits", async () => {
  const model = scriptedStream([reply("Hi")]);
  await using server = serveLoopback(serveProxy(model, ALLOW_ALL));
  const content = [
    { type: "text", text: "A", signature: null, citations: [{ type: "page" }] },
    { type: "thinking", thinking: "Hm.", signature: 5, redacted: "yes" },
    { type: "tool_call", id: "c1", name: "look", arguments: "{", signature: {} },
  ];
  const garbled = { ...richRequest(MODEL).context.messages[1], role: "assistant", content };
  const request = richRequest(MODEL);
  const messages = [...request.context.messages, garbled] as typeof request.context.messages;
  const { error } = await readReply(
    createProxy({ baseUrl: server.url })({ ...request, context: { ...request.context, messages } }),
  );
  assertEquals(error, undefined);
  assertEquals(model.calls[0]?.context.messages.at(-1)?.content, content as unknown);
});
