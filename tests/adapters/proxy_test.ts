import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { connect } from "../../adapters/connect.ts";
import { createProxy, type ProxyEvent } from "../../adapters/proxy/mod.ts";
import { isJsonObject } from "../../src/core/json/json.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { unknownCost } from "../../src/core/models/usage.ts";
import type { AssistantMessageEvent, StreamRequest } from "../../src/core/streams/stream.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import { withDeadline } from "../deadline.ts";
import { getUnusedUrl, serveLoopback } from "./loopback.ts";
import { createReply, createToolResult, prompt, TOOLS } from "./rich_conversation.ts";

const TOKEN = "token-0123456789";
const MODEL = {
  provider: "anthropic",
  modelId: "claude-sonnet-5-5",
  thinkingLevel: "low",
} as const;
const USAGE = { input: 10, output: 20, cacheRead: 0, cacheWrite: 0, total: 30 };
const COST = { input: 0.01, output: 0.02, cacheRead: 0, cacheWrite: 0, total: 0.03 };
const CALL_EVENTS: readonly ProxyEvent[] = [
  { type: "tool_call_start", contentIndex: 1, id: "call_1", name: "read_file" },
  { type: "tool_call_delta", contentIndex: 1, delta: '{"path":' },
  { type: "tool_call_delta", contentIndex: 1, delta: '"a.txt"}' },
  { type: "tool_call_end", contentIndex: 1 },
];
const TEXT_EVENTS: readonly ProxyEvent[] = [
  { type: "text_start", contentIndex: 0 },
  { type: "text_delta", contentIndex: 0, delta: "Hello, " },
  { type: "text_delta", contentIndex: 0, delta: "world" },
  { type: "text_end", contentIndex: 0 },
];

function createStreamRequest(signal: AbortSignal = new AbortController().signal): StreamRequest {
  return {
    model: MODEL,
    context: { systemPrompt: "Be brief.", messages: [prompt("Hello")], tools: TOOLS },
    options: { temperature: 0.5 },
    signal,
  };
}

function createEventResponse(...list: readonly ProxyEvent[]): Response {
  return createStreamResponse(list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
}

function createStreamResponse(body: BodyInit): Response {
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Sends a request to a proxy with the given response. */
async function requestReply(respond: () => Response | Promise<Response>): Promise<CollectedReply> {
  await using server = serveLoopback(respond);
  return await readReply(
    createProxy({ baseUrl: server.url, apiKey: TOKEN })(createStreamRequest()),
  );
}

Deno.test("createProxy(): assembles the message from deltas, with usage and cost [5.1, A139]", async () => {
  const done: ProxyEvent = { type: "done", stopReason: "stop", usage: USAGE, cost: COST };
  const reply = await requestReply(() =>
    createEventResponse({ type: "start" }, ...TEXT_EVENTS, done)
  );
  assertEquals(reply.content, [{ type: "text", text: "Hello, world" }]);
  assertEquals(reply.events.map(({ type }) => type), [
    "start",
    "text_start",
    "text_delta",
    "text_delta",
    "text_end",
    "done",
  ]);
  assertEquals(reply.events.at(-1), done);
});

Deno.test("createProxy(): reads a cost whose amounts are unknown", async () => {
  const costs = [
    unknownCost(),
    { ...COST, total: null, extra: { webSearchRequests: null } },
  ];
  for (const cost of costs) {
    const done: ProxyEvent = { type: "done", stopReason: "stop", usage: USAGE, cost };
    const reply = await requestReply(() => createEventResponse({ type: "start" }, done));
    assertEquals(reply.events.at(-1), done);
  }
});

Deno.test("createProxy(): reads text and a tool call from one stream [5.2]", async () => {
  const done: ProxyEvent = { type: "done", stopReason: "tool_use", usage: USAGE };
  const reply = await requestReply(() =>
    createEventResponse({ type: "start" }, ...TEXT_EVENTS, ...CALL_EVENTS, done)
  );
  assertEquals(reply.content, [
    { type: "text", text: "Hello, world" },
    { type: "tool_call", id: "call_1", name: "read_file", arguments: { path: "a.txt" } },
  ]);
  assertEquals(reply.stopReason, "tool_use");
});

Deno.test("createProxy(): sends a bearer token and a body with model, messages, tools and options [5.3]", async () => {
  const sent: { authorization: string | null; body: unknown }[] = [];
  await using server = serveLoopback(async (request) => {
    sent.push({ authorization: request.headers.get("authorization"), body: await request.json() });
    return createEventResponse({ type: "done", stopReason: "stop", usage: USAGE });
  });
  const request = createStreamRequest();
  const call = { type: "tool_call", id: "call_1", name: "read_file", arguments: {} } as const;
  const messages = [
    ...request.context.messages,
    createReply(MODEL, [call]),
    { ...createToolResult("call_1", "read_file", []), details: { secret: true } },
  ].map((message) => ({ ...message, metadata: { secret: true } }));
  await readReply(
    createProxy({ baseUrl: server.url })({
      ...request,
      context: { ...request.context, messages },
      options: { ...request.options, apiKey: TOKEN },
    }),
  );
  assertEquals(sent, [{
    authorization: `Bearer ${TOKEN}`,
    body: {
      model: MODEL,
      systemPrompt: "Be brief.",
      messages: [
        prompt("Hello"),
        createReply(MODEL, [call]),
        createToolResult("call_1", "read_file", []),
      ],
      tools: TOOLS,
      options: { temperature: 0.5 },
    },
  }]);
});

Deno.test("createProxy(): fails with network_error when the connection is refused [5.4]", async () => {
  const { error } = await readReply(
    createProxy({ baseUrl: getUnusedUrl(), apiKey: TOKEN })(createStreamRequest()),
  );
  assertEquals(error?.code, "network_error");
  assertEquals(error?.retryable, true);
  assertEquals(error?.provider, "proxy");
});

Deno.test("createProxy(): fails with auth_error, which is not retried, on 401 and 403 [5.5]", async () => {
  for (const status of [401, 403]) {
    const { error } = await requestReply(() => new Response(`no to ${TOKEN}`, { status }));
    assertEquals(error?.code, "auth_error");
    assertEquals(error?.retryable, false);
    assert(!JSON.stringify(error).includes(TOKEN));
  }
});

Deno.test("createProxy(): fails with model_throttled and the retry delay on 429 [5.6]", async () => {
  const headers = { "retry-after": "2" };
  const { error } = await requestReply(() => new Response("slow down", { status: 429, headers }));
  assertEquals(error?.code, "model_throttled");
  assertEquals(error?.retryable, true);
  assertEquals(error?.retryAfterMs, 2000);
});

Deno.test("createProxy(): fails with network_error on 504 [5.7]", async () => {
  const { error } = await requestReply(() => new Response("timeout", { status: 504 }));
  assertEquals(error?.code, "network_error");
  assertEquals(error?.retryable, true);
});

Deno.test("createProxy(): fails with stream_error, which is not retried, on an invalid event [5.8]", async () => {
  const invalidBodies = [
    "data: {nonsense\n\n",
    "data: 7\n\n",
    "data: {}\n\n",
    'data: {"type":"text_delta","contentIndex":0,"delta":"no start"}\n\n',
    'data: {"type":"text_start","contentIndex":"0"}\n\n',
    'data: {"type":"done","stopReason":"whenever","usage":{}}\n\n',
    'data: {"type":"error","error":{"message":"no code"}}\n\n',
    "data: [DONE]\n\n",
  ];
  for (const body of invalidBodies) {
    const { error } = await requestReply(() => createStreamResponse(body));
    assertEquals(error?.code, "stream_error", body);
    assertEquals(error?.retryable, false);
  }
});

Deno.test("createProxy(): fails with network_error when the stream ends in the middle [5.9]", async () => {
  const partialBody = TEXT_EVENTS.slice(0, 2)
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join("");
  for (
    const reply of [
      await requestReply(() => createStreamResponse(partialBody)),
      await requestDroppedReply(partialBody),
    ]
  ) {
    assertEquals(reply.error?.code, "network_error");
    assertEquals(reply.error?.retryable, true);
    assertEquals(reply.text, "Hello, ");
  }
});

/** Sends a request to a proxy whose connection breaks after `partialBody`. */
async function requestDroppedReply(partialBody: string): Promise<CollectedReply> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const head = [
    "HTTP/1.1 200 OK",
    "content-type: text/event-stream",
    "content-length: 100000",
    "",
    partialBody,
  ].join("\r\n");
  const dropping = (async () => {
    using connection = await listener.accept();
    await connection.read(new Uint8Array(65_536));
    await connection.write(new TextEncoder().encode(head));
  })();
  const { port } = listener.addr;
  const proxy = createProxy({ baseUrl: `http://127.0.0.1:${port}` });
  const exchange = Promise.all([readReply(proxy(createStreamRequest())), dropping]);
  const [reply] = await withDeadline(exchange);
  return reply;
}

Deno.test("createProxy(): closes the connection and ends the reply as aborted on abort [5.10]", async () => {
  const controller = new AbortController();
  const { promise: disconnected, resolve: onDisconnect } = Promise.withResolvers<void>();
  await using server = serveLoopback(() =>
    createStreamResponse(
      new ReadableStream({
        start: (body) => body.enqueue(new TextEncoder().encode(PARTIAL_REPLY)),
        cancel: () => onDisconnect(),
      }),
    )
  );
  const stream = createProxy({ baseUrl: server.url })(createStreamRequest(controller.signal));
  const { stopReason, error } = await readReply(abortAtText(stream, controller));
  assertEquals(stopReason, "aborted");
  assertEquals(error?.code, "aborted");
  await disconnected;
});

const PARTIAL_REPLY = [
  { type: "start" },
  { type: "text_start", contentIndex: 0 },
  { type: "text_delta", contentIndex: 0, delta: "Half" },
].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

/** Yields the events of a stream, and aborts after the first text. */
async function* abortAtText(
  stream: AsyncIterable<AssistantMessageEvent>,
  controller: AbortController,
): AsyncGenerator<AssistantMessageEvent> {
  for await (const event of stream) {
    yield event;
    if (event.type === "text_delta") controller.abort("enough");
  }
}

Deno.test("createProxy(): keeps all fields of the model's error", async () => {
  const record = {
    code: "model_throttled",
    message: "openai answered 429: quota",
    retryable: false,
    status: 429,
    retryAfterMs: 5000,
    provider: "openai",
    requestId: "req_1",
  } as const;
  const { error } = await requestReply(() =>
    createEventResponse({ type: "error", stopReason: "error", error: record })
  );
  assertEquals(error?.toJSON(), record);
});

Deno.test("createProxy(): fails with network_error, which is retried, when the proxy aborts the reply", async () => {
  const record = { code: "aborted", message: "shutting down", retryable: false } as const;
  const reply = await requestReply(() =>
    createEventResponse({ type: "error", stopReason: "aborted", error: record })
  );
  assertEquals(reply.stopReason, "error");
  assertEquals(reply.error?.code, "network_error");
  assertStringIncludes(reply.error?.message ?? "", "shutting down");
});

Deno.test("connect(): sends requests for models with the prefix proxy/ to the proxy", async () => {
  const sent: unknown[] = [];
  await using server = serveLoopback(async (request) => {
    sent.push([request.headers.get("authorization"), await request.json()]);
    return createEventResponse({ type: "done", stopReason: "stop", usage: USAGE });
  });
  const variables: Record<string, string> = {
    SWINK_PROXY_URL: server.url,
    SWINK_PROXY_TOKEN: TOKEN,
  };
  const streamFn = connect({ env: (name) => variables[name] });
  const model = modelSpec("proxy/anthropic/claude-sonnet-5-5:low");
  const messages = [
    prompt("Hello"),
    createReply(model, [{ type: "text", text: "Hi" }]),
    prompt("?"),
  ];
  const { context, ...request } = createStreamRequest();
  await readReply(streamFn({ ...request, model, context: { ...context, messages } }));
  const [authorization, body] = [sent].flat(2);
  assertEquals(authorization, `Bearer ${TOKEN}`);
  assert(isJsonObject(body));
  assertEquals(body["model"], MODEL);
  assertEquals(body["messages"], [
    prompt("Hello"),
    createReply(MODEL, [{ type: "text", text: "Hi" }]),
    prompt("?"),
  ]);
});

Deno.test("createProxy(): names the form of a model with the prefix proxy/ that has no provider", async () => {
  for (const modelId of ["claude-sonnet-5-5", "/claude-sonnet-5-5"]) {
    const model = { provider: "proxy", modelId, thinkingLevel: "off" } as const;
    const streamFn = createProxy({ baseUrl: "http://proxy.example", apiKey: TOKEN });
    const { error } = await readReply(streamFn({ ...createStreamRequest(), model }));
    assertEquals([error?.code, error?.message], [
      "bad_request",
      `Cannot parse the model "proxy/${modelId}": write it as proxy/provider/model`,
    ]);
  }
});

Deno.test("connect(): names SWINK_PROXY_URL when the proxy's URL is missing", async () => {
  const model = modelSpec("proxy/anthropic/claude-sonnet-5-5");
  const { error } = await readReply(
    connect({ env: () => undefined })({ ...createStreamRequest(), model }),
  );
  assertEquals(error?.code, "bad_request");
  assertStringIncludes(error?.message ?? "", "SWINK_PROXY_URL");
});

Deno.test("createProxy(): names the missing URL, and options that are no object", async () => {
  const findMessage = async (options: unknown) => {
    const streamFn = createProxy(options as { baseUrl: string });
    return (await readReply(streamFn(createStreamRequest()))).error?.message;
  };
  assertEquals(await findMessage({}), "No URL for the proxy: pass baseUrl to createProxy()");
  assertEquals(
    await findMessage("http://proxy.example"),
    "The options must be an object, not a string",
  );
});

Deno.test("createProxy(): an error or a text of a server before the proxy, with status 200, is part of the error", async () => {
  const json = { error: { message: "Overloaded", type: "overloaded_error" } };
  for (const body of [JSON.stringify(json), `data: ${JSON.stringify(json)}\n\n`]) {
    const { error } = await requestReply(() => createStreamResponse(body));
    assertEquals([error?.code, error?.message], [
      "network_error",
      "proxy reported an error: Overloaded",
    ]);
  }
  const { error } = await requestReply(() => createStreamResponse("upstream connect error"));
  assertStringIncludes(error?.message ?? "", "with the text: upstream connect error");
});
