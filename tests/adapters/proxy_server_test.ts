import { assert, assertEquals, assertMatch } from "@std/assert";
import { createProxy, serveProxy, type ServeProxyOptions } from "../../adapters/proxy/mod.ts";
import { ModelThrottledError } from "../../src/core/errors.ts";
import type { StreamFn, StreamRequest } from "../../src/core/stream.ts";
import { zeroUsage } from "../../src/core/usage.ts";
import { text, thinking, toolCall } from "../../src/testing/messages.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { fail, hang, reply, type ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { ManualClock, settle } from "../conformance/ports.ts";
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
  });
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

Deno.test("what a model answers comes through the proxy, event for event", async () => {
  const step = reply([
    thinking("Hm.", { signature: "c2ln" }),
    text("Let me look."),
    toolCall("read_file", { path: "ü.txt" }, { id: "call_1" }),
  ], { usage: { ...zeroUsage(), input: 3, output: 4 } });
  const direct = await readReply(createStreamFn(step)(richRequest(MODEL)));
  await using server = serveLoopback(serveProxy(createStreamFn(step), ALLOW_ALL));
  const proxied = await readReply(createProxy({ baseUrl: server.url })(richRequest(MODEL)));
  assertEquals(proxied.events, direct.events);
});

Deno.test("the model's side gets the request as it was asked, without the token", async () => {
  const asked = scriptedStream([reply("Hi")]);
  await using server = serveLoopback(serveProxy(asked, ALLOW_ALL));
  const request = richRequest(MODEL, { options: { temperature: 0.5, extra: { top_k: 3 } } });
  await readReply(createProxy({ baseUrl: server.url })(request));
  const [seen] = asked.calls;
  assertEquals(seen?.model, request.model);
  assertEquals(seen?.context.tools, request.context.tools);
  assertEquals(seen?.context.messages.length, request.context.messages.length);
  assertEquals(seen?.options, { temperature: 0.5, extra: { top_k: 3 } });
});

Deno.test("a key in a request's options is left behind", async () => {
  const asked = scriptedStream([reply("Hi")]);
  const body = {
    ...JSON.parse(MINIMAL_BODY),
    options: { apiKey: "sk-stolen", maxTokens: 7, odd: 1 },
  };
  const response = await serveProxy(asked, ALLOW_ALL)(createPost(JSON.stringify(body)));
  await response.text();
  assertEquals(asked.calls[0]?.options, { maxTokens: 7 });
});

Deno.test("only true lets a caller in", async () => {
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

Deno.test("a caller without a token has an empty one, which no unset variable equals", async () => {
  const unset: string | undefined = undefined;
  assertEquals(
    await fetchStatus(createPost(MINIMAL_BODY), { authorize: (token) => token === unset }),
    401,
  );
});

Deno.test("an authorize that fails lets nobody in, and its words stay inside", async () => {
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

Deno.test("without authorize the proxy serves its own machine and nobody else", async () => {
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

Deno.test("without authorize a name that leads here does not make a web page local", async () => {
  const request = new Request("http://rebound.example/", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: MINIMAL_BODY,
  });
  assertEquals(await fetchStatus(request, {}, LOCAL_CONNECTION), 401);
});

Deno.test("only JSON that was posted is taken", async () => {
  assertEquals(await fetchStatus(new Request("http://localhost/"), ALLOW_ALL), 405);
  assertEquals(
    await fetchStatus(createPost(MINIMAL_BODY, { "content-type": "text/plain" }), ALLOW_ALL),
    415,
  );
  assertEquals(await fetchStatus(createPost("{"), ALLOW_ALL), 400);
});

Deno.test("a body is read up to the limit", async () => {
  const long = MINIMAL_BODY + " ".repeat(2000);
  assertEquals(await fetchStatus(createPost(long), { ...ALLOW_ALL, maxBodyBytes: 1000 }), 413);
  assertEquals(await fetchStatus(createPost(long), { ...ALLOW_ALL, maxBodyBytes: 10_000 }), 200);
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

Deno.test("what is wrong with a body is told with the path to it", async () => {
  const user = { role: "user", content: [{ type: "text", text: 7 }], timestamp: 0 };
  const wrong: [object, string][] = [
    [{ messages: [] }, "The body.model must be an object"],
    [{ model: { ...MODEL, modelId: "" }, messages: [] }, "The body.model.modelId must be a text"],
    [{ model: { ...MODEL, thinkingLevel: "deep" }, messages: [] }, "The body.model.thinkingLevel"],
    [{ model: MODEL, messages: {} }, "The body.messages must be a list"],
    [{ model: MODEL, messages: [user] }, "The body.messages[0].content[0].text must be a text"],
    [{ model: MODEL, messages: [{ role: "system" }] }, "The body.messages[0].role must be"],
    [{ model: MODEL, messages: [], tools: [{ name: "x" }] }, "The body.tools[0].description"],
    [{ model: MODEL, messages: [], options: { temperature: "hot" } }, "The body.options.temper"],
    [{ model: MODEL, messages: [], options: { toolChoice: 1 } }, "The body.options.toolChoice"],
  ];
  for (const [body, problem] of wrong) {
    const response = await serveProxy(createStreamFn(), ALLOW_ALL)(
      createPost(JSON.stringify(body)),
    );
    assertEquals(response.status, 400);
    const { error } = await response.json();
    assertEquals(error.code, "bad_request");
    assert(error.message.startsWith(problem), error.message);
  }
});

Deno.test("a refusal reaches the agent with its own code", async () => {
  await using server = serveLoopback(serveProxy(createStreamFn(), { authorize: () => false }));
  const { error } = await readReply(createProxy({ baseUrl: server.url })(richRequest(MODEL)));
  assertEquals(error?.code, "auth_error");
  assertMatch(error?.message ?? "", /^proxy answered 401: The proxy does not accept this token/);
});

Deno.test("an error of the model travels with its facts, without its cause and without keys", async () => {
  const streamFn: StreamFn = (request: StreamRequest) => {
    const error = new ModelThrottledError("openai answered 429 to sk-live-0123456789abcdef", {
      retryAfterMs: 1500,
      provider: "openai",
      cause: new Error("Bearer sk-live-0123456789abcdef"),
    });
    assert(request);
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

Deno.test("a stream function that throws, or stops without an end, fails the reply and nothing else", async () => {
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

Deno.test("an overflow stays one, so that the agent can shorten its context", async () => {
  await using server = serveLoopback(
    serveProxy(createStreamFn(fail("context_window_overflow", "full")), ALLOW_ALL),
  );
  const { error } = await readReply(createProxy({ baseUrl: server.url })(richRequest(MODEL)));
  assertEquals(error?.code, "context_window_overflow");
  assertEquals(error?.retryable, false);
});

Deno.test("a caller who leaves aborts the call to the model", async () => {
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

Deno.test("events that are there together are sent together, and no more than fit", async () => {
  const words = "many words ".repeat(200);
  const handler = serveProxy(createStreamFn(reply([text(words.repeat(100))])), ALLOW_ALL);
  const { body } = await handler(createPost(MINIMAL_BODY));
  const sizes: number[] = [];
  for await (const chunk of body ?? []) sizes.push(chunk.length);
  assert(sizes.length > 1, "all came at once");
  assert(sizes.every((size) => size < 300_000), `${sizes}`);
  const few = await serveProxy(createStreamFn(reply("Hi")), ALLOW_ALL)(createPost(MINIMAL_BODY));
  let chunks = 0;
  for await (const _chunk of few.body ?? []) chunks++;
  assertEquals(chunks, 1);
});

Deno.test("while the model thinks in silence, comments keep the connection open", async () => {
  const clock = new ManualClock();
  const handler = serveProxy(createStreamFn(hang({ after: "Half" })), {
    ...ALLOW_ALL,
    clock,
    keepAliveMs: 50,
  });
  const { body } = await handler(createPost(MINIMAL_BODY));
  assert(body);
  const reader = body.getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
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
