import * as clientPackage from "@modelcontextprotocol/client";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { NetworkError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { connectMcp, type McpConnection } from "../../src/mcp/mod.ts";
import { waitUntil } from "../wait_until.ts";
import { callTool, getText } from "./call_tool.ts";
import { createEventStream, createResult, HttpServer } from "./http_server.ts";

Deno.test("HTTP: connects with a session and the headers of the configuration, and ends the session [8.13]", async () => {
  await using server = new HttpServer();
  {
    await using mcp = await server.connect({ environment: { KEY: "k1" } }, {
      authorization: "Bearer ${KEY}",
    });
    assertEquals(mcp.servers[0]?.state, { type: "ready" });
    assertEquals(getText(await callTool(mcp)), "hello");
  }
  const methods = server.requests.map(({ method }) => method);
  assertEquals(methods.filter((method) => method !== "GET"), [
    "server/discover",
    "initialize",
    "notifications/initialized",
    "tools/list",
    "tools/call",
    "DELETE",
  ]);
  for (const { headers } of server.requests) {
    assertEquals(headers.get("authorization"), "Bearer k1");
  }
  const call = server.requests.find(({ method }) => method === "tools/call");
  assertEquals(call?.headers.get("mcp-session-id"), "session 1");
});

Deno.test("HTTP: results arrive as event streams too, with progress", async () => {
  const updates: unknown[] = [];
  await using server = new HttpServer({
    "tools/call": (message) => {
      const { progressToken } = message.params._meta;
      return createEventStream([
        {
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken, progress: 1 },
        },
        createResult(message, { content: [{ type: "text", text: "streamed" }] }),
      ]);
    },
  });
  await using mcp = await server.connect();
  const context = { onUpdate: (update: unknown) => void updates.push(update) };
  assertEquals(getText(await callTool(mcp, { context })), "streamed");
  assertEquals(updates, ["1"]);
});

Deno.test("HTTP: a server that no longer knows the session gets a new one, and the call once more", async () => {
  let sessions = 0;
  await using server = new HttpServer({
    "tools/call": () =>
      ++sessions === 1
        ? new Response("Unknown session", { status: 404 })
        : { content: [{ type: "text", text: `session ${sessions}` }] },
  });
  await using mcp = await server.connect();
  assertEquals(getText(await callTool(mcp)), "session 2");
  assertEquals(server.requests.filter(({ method }) => method === "initialize").length, 2);
});

Deno.test("HTTP: a server that answers an unknown session with the status 400 gets a new one, and other errors none", async () => {
  const error = (message: string) =>
    Response.json({ jsonrpc: "2.0", error: { code: -32000, message } }, { status: 400 });
  const answers = [
    error("Bad Request: No valid session ID provided"),
    { content: [{ type: "text", text: "hello" }] },
    error("The argument text is invalid"),
  ];
  await using server = new HttpServer({ "tools/call": () => answers.shift() ?? {} });
  await using mcp = await server.connect();
  assertEquals(getText(await callTool(mcp)), "hello");
  assertEquals(mcp.servers[0]?.restarts, 1);
  assertStringIncludes(getText(await callTool(mcp)), "The argument text is invalid");
  assertEquals(mcp.servers[0]?.restarts, 1);
});

Deno.test("HTTP: calls that lose their session at the same time share one new session", async () => {
  const isLost = createDeferred();
  let lost = 0;
  await using server = new HttpServer({
    "tools/call": async () => {
      if (lost === 2) return { content: [{ type: "text", text: "new session" }] };
      if (++lost === 2) isLost.resolve();
      await isLost.promise;
      return new Response("Unknown session", { status: 404 });
    },
  });
  await using mcp = await server.connect();
  const results = await Promise.all([callTool(mcp), callTool(mcp)]);
  assertEquals(results.map(getText), ["new session", "new session"]);
  assertEquals(server.requests.filter(({ method }) => method === "initialize").length, 2);
});

Deno.test("HTTP: a server that cannot be reached is restarted, with the reason", async () => {
  const server = new HttpServer();
  await server[Symbol.asyncDispose]();
  await using mcp = await server.connect();
  const [status] = mcp.servers;
  assert(status?.state.type === "restarting");
  assertMatch(status.state.reason, /refused/i);
});

Deno.test("HTTP: a server that requires an authorization fails with the remedy", async () => {
  await using server = new HttpServer({
    "server/discover": () => new Response(null, { status: 401 }),
    "initialize": () => new Response(null, { status: 401 }),
  });
  await using mcp = await server.connect();
  assertEquals(mcp.servers[0]?.state, {
    type: "failed",
    reason:
      "The server requires an authorization: add a header to its configuration, or pass oauth",
  });
});

Deno.test("HTTP: a response that is too large fails the call, and the server stays usable", async () => {
  let isLarge = true;
  await using server = new HttpServer({
    "tools/call": (message) => {
      if (!isLarge) return { content: [] };
      const part = "x".repeat(100_000);
      return createEventStream((function* () {
        yield 'data: {"jsonrpc":"2.0","id":1,"result":"';
        for (let count = 0; count < 1_000; count++) yield part;
        yield JSON.stringify(createResult(message, { content: [] }));
      })());
    },
  });
  await using mcp = await server.connect({ maxMessageBytes: 1_000_000 });
  const result = await callTool(mcp);
  assertEquals(result.isError, true);
  isLarge = false;
  assertEquals((await callTool(mcp)).content, []);
});

Deno.test("HTTP: a response that ends without a result fails the call", async () => {
  for (
    const response of [
      () => createEventStream([]),
      () => createEventStream(["data: garbage\n\n", ": comment\n\n", "event: x\ndata: {}\n\n"]),
      () => new Response("", { headers: { "content-type": "application/json" } }),
      () => new Response("<html>", { headers: { "content-type": "text/html" } }),
      () => new Response("overloaded", { status: 503 }),
    ]
  ) {
    await using server = new HttpServer({ "tools/call": response });
    await using mcp = await server.connect();
    assertEquals((await callTool(mcp)).isError, true);
  }
});

/** Calls a tool and cancels the call as soon as the server has received it. */
async function cancelCall(mcp: McpConnection, received: Promise<void>): Promise<void> {
  const controller = new AbortController();
  const calling = callTool(mcp, { context: { signal: controller.signal } }).catch((error) => error);
  await received;
  controller.abort("stop");
  assertEquals(await calling, "stop");
}

Deno.test("HTTP: a cancelled call is reported to the server [8.7]", async () => {
  const called = createDeferred();
  const answered = createDeferred<Response>();
  await using server = new HttpServer({
    "tools/call": () => {
      called.resolve();
      return answered.promise;
    },
  });
  await using mcp = await server.connect();
  await cancelCall(mcp, called.promise);
  await mcp.close();
  answered.resolve(new Response(null, { status: 202 }));
  assert(server.requests.some(({ method }) => method === "notifications/cancelled"));
});

Deno.test("HTTP: redirects to another origin are not followed [8.13]", async () => {
  await using other = new HttpServer();
  await using server = new HttpServer({
    "initialize": () => new Response(null, { status: 307, headers: { location: other.url } }),
  });
  await using mcp = await server.connect({}, { authorization: "Bearer secret" });
  assertEquals(mcp.servers[0]?.state.type, "restarting");
  assertEquals(other.requests, []);
});

Deno.test("HTTP: closing ends the pauses before event streams are opened again", async () => {
  const streams = [createDeferred(), createDeferred()];
  let count = 0;
  await using server = new HttpServer({
    "tools/call": () => {
      streams[count++]?.resolve();
      return createEventStream(["id: 1\ndata:\n\n"]); // The client opens it again to get the result.
    },
  });
  const mcp = await server.connect();
  const controller = new AbortController();
  const { signal } = controller;
  const calls = streams.map(() => callTool(mcp, { context: { signal } }).catch((reason) => reason));
  await Promise.all(streams.map(({ promise }) => promise));
  controller.abort("stop");
  assertEquals(await Promise.all(calls), ["stop", "stop"]);
  await mcp.close();
});

Deno.test("HTTP: the event stream of changes is opened again after failures of half a minute", async () => {
  const pauses: number[] = [];
  const changed = createDeferred();
  let streams = 0;
  await using server = new HttpServer({
    "initialize": (message) =>
      Response.json(createResult(message, {
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "mock", version: "1" },
      })),
    "GET": () => {
      streams++;
      if (streams === 1) return createEventStream([": open\n\n"]);
      if (streams <= 5) return new Response(null, { status: 503 });
      return createEventStream([{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }]);
    },
    "tools/list": () => {
      if (streams < 6) return { tools: [] };
      return { tools: [{ name: "late", inputSchema: { type: "object" } }] };
    },
  });
  await using mcp = await server.connect({
    sleep: async (milliseconds, signal) => {
      const isPause = [1_000, 2_000, 4_000, 8_000, 16_000].includes(milliseconds) && streams < 6;
      if (isPause) return void pauses.push(milliseconds);
      const aborted = createDeferred();
      signal?.addEventListener("abort", () => aborted.resolve());
      if (!signal?.aborted) await aborted.promise;
    },
    onStatus: ({ tools }) => tools.length > 0 && changed.resolve(),
  });
  await changed.promise;
  assertEquals(mcp.tools.at(-1)?.name, "mcp__mock__late");
  assertEquals(pauses, [1_000, 2_000, 4_000, 8_000, 16_000]);
});

Deno.test("HTTP: the list of tools is read again when the event stream of changes is opened again", async () => {
  let streams = 0;
  let lists = 0;
  const listed = createDeferred();
  await using server = new HttpServer({
    "initialize": (message) =>
      Response.json(createResult(message, {
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "mock", version: "1" },
      })),
    "GET": async (_message, { signal }) => {
      if (++streams === 1) return createEventStream([": open\n\n"]);
      await listed.promise;
      return createOpenStream(signal);
    },
    "tools/list": () => {
      listed.resolve();
      const name = ++lists === 1 ? "early" : "late";
      return { tools: [{ name, inputSchema: { type: "object" } }] };
    },
  });
  await using mcp = await server.connect({
    sleep: async (milliseconds, signal) => {
      if (milliseconds === 1_000 && streams === 1) return;
      const aborted = createDeferred();
      signal?.addEventListener("abort", () => aborted.resolve());
      if (!signal?.aborted) await aborted.promise;
    },
  });
  await waitUntil(() => mcp.tools.at(-1)?.name === "mcp__mock__late", { timeoutMs: 5_000 });
  assertEquals([streams, lists], [2, 2]);
});

/** Creates an event stream that stays open until its request is aborted. */
function createOpenStream(signal: AbortSignal): Response {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(": open\n\n"));
      signal.addEventListener("abort", () => controller.close());
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

Deno.test("HTTP: a server that sends requests and does not accept the answers gets no more of them", async () => {
  const pings = Array.from({ length: 400 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
  await using server = new HttpServer({
    "tools/call": (message) =>
      createEventStream([...pings, createResult(message, { content: [] })]),
    // An answer: the server accepts none until the client closes the connection.
    "undefined": (_message, { signal }) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve({}))),
  });
  const warnings: string[] = [];
  await using mcp = await server.connect({ onWarning: ({ message }) => warnings.push(message) });
  assertEquals((await callTool(mcp)).content, []);
  assertEquals((await callTool(mcp)).content, []);
  const answers = server.requests.filter(({ method }) => method === undefined);
  assert(answers.length >= 100 && answers.length < 300, `${answers.length} answers`);
  assertEquals(warnings, [
    'The MCP server "mock" sends requests, and does not accept the answers',
  ]);
});

Deno.test("HTTP: a response that answers another request, or none, fails the call", async () => {
  const content = [{ type: "text", text: "other" }];
  const responses: readonly (() => Response)[] = [
    () => Response.json({ jsonrpc: "2.0", id: 12_345, result: { content } }),
    () => Response.json([]),
    () => new Response(null, { status: 202 }),
    () => Response.json({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }),
  ];
  for (const respond of responses) {
    await using server = new HttpServer({ "tools/call": respond });
    await using mcp = await server.connect();
    const result = await callTool(mcp);
    assertEquals(result.isError, true);
    assertStringIncludes(getText(result), "does not answer the request");
    assertEquals(mcp.servers[0]?.state, { type: "ready" });
  }
});

Deno.test("HTTP: the response to a cancelled call is closed, however long the server sends it", async () => {
  const called = createDeferred();
  const closed = createDeferred();
  let timer: ReturnType<typeof setInterval> | undefined;
  await using server = new HttpServer({
    "tools/call": () => {
      const body = new ReadableStream({
        start: (controller) => {
          const comment = new TextEncoder().encode(": working\n\n");
          timer = setInterval(() => controller.enqueue(comment), 20);
          called.resolve();
        },
        cancel: () => {
          clearInterval(timer);
          closed.resolve();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  await using mcp = await server.connect();
  await cancelCall(mcp, called.promise);
  await closed.promise;
  assertEquals(mcp.servers[0]?.state, { type: "ready" });
});

Deno.test("HTTP: the reason of a failure has no values of the headers and none of the query [8.13]", async () => {
  await using server = new HttpServer({
    initialize: (_message, request) =>
      new Response(
        `Key ${request.headers.get("x-key")}, token ${
          request.headers.get("authorization")?.slice("Token ".length)
        } and ${new URL(request.url).searchParams.get("key")} are wrong`,
        { status: 500 },
      ),
  });
  const url = `${server.url}?key=s3cret-query`;
  const headers = { authorization: "Token s3cret-token", "x-key": "s3cret-key" };
  const config = { mcpServers: { mock: { url, headers } } };
  await using mcp = await connectMcp(config, { clientPackage });
  const [status] = mcp.servers;
  assert(status?.state.type === "restarting");
  const expected = "Key [redacted], token [redacted] and [redacted] are wrong";
  assertStringIncludes(status.state.reason, expected);
  assertEquals(/s3cret/.test(JSON.stringify([status, await callToolError(mcp)])), false);
});

Deno.test("HTTP: the error of a call has no values of the headers [8.13]", async () => {
  for (const padding of [0, 3_990]) {
    await using server = new HttpServer({
      "tools/call": (_message, request) =>
        new Response(`${"x".repeat(padding)}Key ${request.headers.get("x-key")} is wrong`, {
          status: 500,
        }),
    });
    const headers = { "x-key": "s3cret-key-of-many-characters" };
    const config = { mcpServers: { mock: { url: server.url, headers } } };
    await using mcp = await connectMcp(config, { clientPackage });
    const result = await callTool(mcp);
    assertEquals(result.isError, true);
    assertEquals(getText(result).includes("s3cr"), false, getText(result));
  }
});

Deno.test("HTTP: an error result of a tool has no secret of the configuration, and another result is complete", async () => {
  const key = "s3cret-key-of-many-characters";
  let isError = true;
  await using server = new HttpServer({
    "tools/call": () => ({
      content: [{ type: "text", text: `Key ${key} is used` }],
      structuredContent: { status: 403, headers: [`x-key: ${key}`] },
      isError,
    }),
  });
  await using mcp = await server.connect({}, { "x-key": key });
  const result = await callTool(mcp);
  assertEquals(getText(result), "Key [redacted] is used");
  assertEquals(result.details, { status: 403, headers: ["x-key: [redacted]"] });
  isError = false;
  assertEquals(getText(await callTool(mcp)), `Key ${key} is used`);
});

Deno.test("HTTP: the error of a prompt or a resource has no secret of the configuration", async () => {
  const key = "s3cret-key-of-many-characters";
  await using server = new HttpServer({
    "prompts/get": (_message, { headers }) =>
      new Response(`Key ${headers.get("x-key")} is wrong`, { status: 500 }),
    "resources/read": ({ id }) =>
      Response.json({
        jsonrpc: "2.0",
        id: id ?? null,
        error: { code: -32_000, message: `Key ${key} is wrong`, data: key },
      }),
  });
  await using mcp = await server.connect({}, { "x-key": key });
  for (
    const request of [
      () => mcp.getPrompt({ server: "mock", name: "a" }),
      () => mcp.readResource({ server: "mock", uri: "a:b" }),
    ]
  ) {
    const error = await assertRejects(request, NetworkError, "is wrong");
    assertEquals(Deno.inspect(error, { depth: 10 }).includes("s3cr"), false, error.message);
  }
});

Deno.test("HTTP: a prompt is requested once more when the server no longer knows the session", async () => {
  let requests = 0;
  await using server = new HttpServer({
    "prompts/get": () =>
      ++requests === 1 ? new Response("Unknown session", { status: 404 }) : { messages: [] },
  });
  await using mcp = await server.connect();
  assertEquals(await mcp.getPrompt({ server: "mock", name: "a" }), { messages: [] });
  assertEquals([requests, mcp.servers[0]?.restarts], [2, 1]);
});

Deno.test("HTTP: a list is requested once more when the server no longer knows the session", async () => {
  let requests = 0;
  await using server = new HttpServer({
    initialize: () => ({
      protocolVersion: "2025-11-25",
      capabilities: { prompts: {} },
      serverInfo: { name: "mock", version: "1" },
    }),
    "prompts/list": () =>
      ++requests === 1
        ? new Response("Unknown session", { status: 404 })
        : { prompts: [{ name: "greet" }] },
  });
  await using mcp = await server.connect();
  assertEquals(await mcp.listPrompts(), [{ server: "mock", name: "greet" }]);
});

/** Returns what a request to a server that does not run rejects with. */
async function callToolError(mcp: McpConnection): Promise<string> {
  return await mcp.readResource({ server: "mock", uri: "a:b" }).then(() => "", String);
}
