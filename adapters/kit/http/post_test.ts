import { assertEquals, assertLess, assertRejects, assertStringIncludes } from "@std/assert";
import {
  AbortedError,
  AgentError,
  AuthError,
  BadRequestError,
  NetworkError,
  StreamError,
} from "../../../src/core/errors/errors.ts";
import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import { ManualClock } from "../../../src/testing/manual_clock.ts";
import { readReply } from "../../../src/testing/read_reply.ts";
import { serveLoopback } from "../../../tests/adapters/loopback.ts";
import { settle } from "../../../tests/conformance/ports.ts";
import { createOpenAI } from "../../openai/mod.ts";
import { type AdapterOptions, resolveSettings } from "../options/adapter_options.ts";
import { post } from "./post.ts";

const REQUEST = {
  provider: "acme",
  url: "https://acme.example/v1",
  headers: { "x-key": "secret-key-1" },
  body: "{}",
  secrets: ["secret-key-1"],
};

function send(fetch: typeof globalThis.fetch, options: AdapterOptions = {}) {
  const settings = resolveSettings({ fetch, ...options }, "https://acme.example");
  return post(REQUEST, settings, new AbortController());
}

function respondWith(body: BodyInit | null, init: ResponseInit = {}): typeof globalThis.fetch {
  return () => Promise.resolve(new Response(body, init));
}

Deno.test("post(): headers of the caller override those of the adapter", async () => {
  let sent = new Headers();
  await send((_url, init) => {
    sent = new Headers(init?.headers);
    return Promise.resolve(new Response(""));
  }, { headers: { "X-Key": "mine", "x-more": "1" } });
  assertEquals([sent.get("x-key"), sent.get("x-more")], ["mine", "1"]);
});

Deno.test("post(): a failed connection is a network error without the key [5.4]", async () => {
  const failing = () => Promise.reject(new TypeError("connection refused, key secret-key-1"));
  const error = await assertRejects(() => send(failing), NetworkError);
  assertEquals(error.message.includes("secret-key-1"), false);
  assertEquals(error.retryable, true);
});

Deno.test("post(): a fetch that throws synchronously is a network error", async () => {
  const throwing = () => {
    throw new TypeError("invalid URL");
  };
  await assertRejects(() => send(throwing), NetworkError, "invalid URL");
});

Deno.test("post(): reads an error body up to its limit [A140]", async () => {
  const long = `{"error":{"message":"${"x".repeat(200_000)}"}}`;
  const error = await assertRejects(() => send(respondWith(long, { status: 401 })), AuthError);
  assertEquals(error.message.length < 2100, true);
});

Deno.test("post(): uses the part of an error body that arrived before the connection was lost", async () => {
  const body = new ReadableStream<Uint8Array>({
    start(controller): void {
      controller.enqueue(new TextEncoder().encode("prompt is too long"));
    },
    pull: (controller) => controller.error(new TypeError("reset")),
  });
  const error = await assertRejects(() => send(respondWith(body, { status: 400 })), AgentError);
  assertEquals(error.code, "context_window_overflow");
});

Deno.test("post(): stops reading an error body that never ends", async () => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("slow")),
  });
  const clock = new ManualClock();
  const sending = send(respondWith(body, { status: 503 }), { clock, idleTimeoutMs: 5 });
  const rejecting = assertRejects(() => sending, NetworkError);
  await settle();
  clock.advance(5);
  const error = await rejecting;
  assertStringIncludes(error.message, "slow");
});

Deno.test("post(): the case of a content type does not count", async () => {
  const page = respondWith("<html></html>", { headers: { "content-type": "Text/HTML" } });
  await assertRejects(() => send(page), StreamError, "baseUrl");
  const headers = { "content-type": "Application/JSON" };
  const refused = respondWith('{"error":{"code":"invalid_api_key"}}', { headers });
  await assertRejects(() => send(refused), AuthError);
});

Deno.test("post(): the error of a fetch that returns no Response names the option", async () => {
  for (const value of [undefined, null, "text", { ok: true, status: 200, body: null }]) {
    const fetch = (() => Promise.resolve(value)) as unknown as typeof globalThis.fetch;
    await assertRejects(() => send(fetch), BadRequestError, "check the fetch option");
  }
  const refused = new Response('{"error":{"code":"invalid_api_key"}}', { status: 401 });
  const synchronous = (() => refused) as unknown as typeof globalThis.fetch;
  await assertRejects(() => send(synchronous), AuthError);
});

Deno.test("post(): rejects a web page instead of a stream, and classifies an error in a JSON response", async () => {
  const page = respondWith("<html></html>", { headers: { "content-type": "text/html" } });
  await assertRejects(() => send(page), StreamError, "baseUrl");
  const headers = { "content-type": "application/json" };
  const refused = respondWith('{"error":{"code":"invalid_api_key"}}', { headers });
  await assertRejects(() => send(refused), AuthError);
});

Deno.test("post(): cancels the body of a response that arrives after the abort", async () => {
  const connection = new AbortController();
  const response = Promise.withResolvers<Response>();
  const cancelled = Promise.withResolvers<void>();
  // A fetch that ignores its signal.
  const settings = resolveSettings({ fetch: () => response.promise }, "https://acme.example");
  const posting = post(REQUEST, settings, connection);
  connection.abort(new AbortedError("stopped"));
  await assertRejects(() => posting, AbortedError, "stopped");
  response.resolve(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })));
  await cancelled.promise;
});

function createRequest(signal: AbortSignal): StreamRequest {
  return {
    model: { provider: "local", modelId: "m", thinkingLevel: "off" },
    context: {
      systemPrompt: "",
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }], timestamp: 0 }],
      tools: [],
    },
    options: { apiKey: "k" },
    signal,
  };
}

Deno.test("createOpenAI(): an abort closes the connection", async () => {
  const closed = Promise.withResolvers<void>();
  await using server = serveLoopback(() => {
    const first = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(first)),
      cancel: () => closed.resolve(),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const controller = new AbortController();
  const stream = createOpenAI({ baseUrl: server.url })(createRequest(controller.signal));
  for await (const { type } of stream) {
    if (type === "text_delta") controller.abort();
  }
  await closed.promise;
});

Deno.test("createOpenAI(): waits for the end of the body after a reply, so that its connection is reused", async () => {
  const ports = new Set<number>();
  let endBody = () => {};
  await using server = serveLoopback((_request, { remoteAddr }) => {
    ports.add(remoteAddr.port);
    const frames =
      'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(frames));
        endBody = () => controller.close();
      },
      cancel() {
        endBody = () => {};
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const client = Deno.createHttpClient({});
  const fetch: typeof globalThis.fetch = (url, init) => globalThis.fetch(url, { ...init, client });
  const streamFn = createOpenAI({ baseUrl: server.url, fetch });
  const replies = 20;
  for (let count = 0; count < replies; count++) {
    const { text } = await readReply(streamFn(createRequest(new AbortController().signal)));
    assertEquals(text, "x");
    endBody();
  }
  // The next request may be sent before the connection is idle, so not every one is reused.
  assertLess(ports.size, replies);
  client.close();
});

Deno.test("post(): a complete reply as JSON is no stream, also with an error that is null", async () => {
  const headers = { "content-type": "application/json" };
  for (const body of ['{"error":null,"output":[]}', '{"choices":[]}', "[]", "{"]) {
    const error = await assertRejects(() => send(respondWith(body, { headers })), StreamError);
    assertStringIncludes(error.message, "answered with application/json instead of a stream");
  }
  const error = await assertRejects(() => send(respondWith('{"error":"overloaded"}', { headers })));
  assertStringIncludes(AgentError.is(error) ? error.message : "", "reported an error: overloaded");
});

Deno.test("post(): the error of a JSON response has the message of the server, in any form of an error", async () => {
  const headers = { "content-type": "application/json" };
  for (
    const body of [
      '{"message":"no such model","code":500}',
      '{"detail":"no such model"}',
      '[{"error":{"message":"no such model"}}]',
    ]
  ) {
    const error = await assertRejects(() => send(respondWith(body, { headers })));
    assertStringIncludes(AgentError.is(error) ? error.message : "", "an error: no such model");
  }
});

Deno.test("post(): an error body that is no text is described by its type and size", async () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d]);
  const headers = { "content-type": "image/png" };
  const getMessage = async (body: BodyInit, init: ResponseInit, options?: AdapterOptions) =>
    (await assertRejects(() => send(respondWith(body, init), options), AgentError)).message;
  assertEquals(
    await getMessage(png, { status: 502, headers }),
    "acme answered 502: binary content (image/png, 12 bytes)",
  );
  assertEquals(
    await getMessage(png, { status: 400 }, { maxErrorBytes: 10 }),
    "acme answered 400: binary content (unknown type, at least 12 bytes)",
  );
  const encoded = '{"error":{"message":"\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd"}}';
  assertStringIncludes(await getMessage(encoded, { status: 400 }), "\ufffd");
});
