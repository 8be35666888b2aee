import { assert, assertEquals, assertObjectMatch, assertStringIncludes } from "@std/assert";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import type { McpElicitation } from "../../src/mcp/mod.ts";
import { waitUntil } from "../wait_until.ts";
import { callTool, getText } from "./call_tool.ts";
import { connectMock, MockServer } from "./mock_server.ts";
import { nest } from "./nested_schema.ts";

Deno.test("hostile output: lines that are no JSON, no objects or no messages are skipped and reported once", async () => {
  const warnings: string[] = [];
  const server = new MockServer({
    onStart: (process) => {
      for (let count = 0; count < 50; count++) {
        process.write('Server listening\n\n{\n[]\n5\nnull\n"text"\n{}\n');
        process.write('{"jsonrpc":"2.0"}\n{"jsonrpc":"1.0","id":1,"result":{}}\n');
        process.write(`{"jsonrpc":"2.0","id":{},"result":{}}\n\x00\xff\x1b[2J\n`);
      }
    },
  });
  await using mcp = await connectMock(server, {
    onWarning: ({ message }) => warnings.push(message),
  });
  assertEquals(getText(await callTool(mcp)), "hello");
  assertEquals(warnings, [
    'The MCP server "mock" wrote a line to its output that is not JSON',
    'The MCP server "mock" sent data that is not a JSON-RPC message',
  ]);
});

Deno.test("hostile output: a line of 100 MB ends the server, and no more of it than the limit is kept [8.15]", async () => {
  const part = "x".repeat(1_000_000);
  const finished = createDeferred();
  const server = new MockServer({
    handlers: {
      "tools/call": async (_message, process) => {
        for (let count = 0; count < 100 && !process.hasExited; count++) {
          process.write(part);
          await new Promise((resolve) => setTimeout(resolve));
        }
        finished.resolve();
      },
    },
  });
  await using mcp = await connectMock(server, { maxMessageBytes: 4_000_000 });
  const result = await callTool(mcp);
  assertEquals(result.isError, true);
  assertStringIncludes(getText(result), "ended during the call");
  await waitUntil(() => mcp.servers[0]?.state.type === "restarting");
  const [status] = mcp.servers;
  assert(status?.state.type === "restarting");
  assertEquals(status.state.reason, "The server sent a line of more than 4000000 bytes");
  await finished.promise;
});

Deno.test("hostile answers: those with unknown, repeated and no ids are ignored [8.15]", async () => {
  const result = (text: string) => ({ content: [{ type: "text", text }] });
  const server = new MockServer({
    handlers: {
      "tools/call": ({ id }, process) => {
        process.send({ id: 9_999, result: result("unknown") });
        process.send({ id: "other", result: result("unknown") });
        process.send({ result: result("no id") });
        process.send({ id, result: result("first") });
        process.send({ id, result: result("second") });
        process.send({ id, error: { code: 1, message: "third" } });
      },
    },
  });
  await using mcp = await connectMock(server);
  assertEquals(getText(await callTool(mcp)), "first");
  assertEquals(getText(await callTool(mcp)), "first");
});

Deno.test("hostile requests: sampling, roots and unknown methods are refused, also with ids of the client", async () => {
  const answers: unknown[] = [];
  const server = new MockServer({
    handlers: {
      "tools/call": ({ id }, process) => {
        process.send({
          id,
          method: "sampling/createMessage",
          params: { messages: [], maxTokens: 1 },
        });
        process.send({ id: "r1", method: "roots/list" });
        process.send({ id: "e1", method: "elicitation/create", params: { message: "Key?" } });
        process.send({ id: "u1", method: "unknown/method" });
        process.send({ id, result: { content: [{ type: "text", text: "ok" }] } });
      },
    },
  });
  await using mcp = await connectMock(server);
  assertEquals(getText(await callTool(mcp)), "ok");
  const isAnswer = (message: object): message is { id: unknown; error: { code: number } } =>
    "error" in message;
  await waitUntil(() => server.process.received.filter(isAnswer).length === 4);
  for (const answer of server.process.received) {
    if (isAnswer(answer)) answers.push(answer.error.code);
  }
  assertEquals(answers, [-32601, -32601, -32601, -32601]);
});

Deno.test("hostile lists: pagination without end stops, and lists are cut", async () => {
  let pages = 0;
  const createTools = (page: number) =>
    Array.from({ length: 20 }, (_, index) => ({
      name: `tool_${page}_${index}`,
      inputSchema: { type: "object" },
    }));
  const server = new MockServer({
    handlers: {
      "tools/list": () => ({ tools: createTools(++pages), nextCursor: `page ${pages}` }),
    },
  });
  await using mcp = await connectMock(server);
  assertEquals(mcp.servers[0]?.tools.length, 1_000);
  assertEquals(pages, 50);
});

Deno.test("hostile lists: empty pages without end, and a repeated cursor, stop", async () => {
  const cursors: readonly (readonly [(page: number) => string, number])[] = [
    [(page) => `page ${page}`, 100],
    [() => "same", 2],
  ];
  for (const [getCursor, expected] of cursors) {
    let pages = 0;
    const server = new MockServer({
      handlers: { "tools/list": () => ({ tools: [], nextCursor: getCursor(++pages) }) },
    });
    await using mcp = await connectMock(server);
    assertEquals(mcp.servers[0]?.state, { type: "ready" });
    assertEquals(pages, expected);
  }
});

Deno.test("hostile lists: a list of another type is empty", async () => {
  for (const tools of [{}, "x", null, 5]) {
    const server = new MockServer({ handlers: { "tools/list": () => ({ tools }) } });
    await using mcp = await connectMock(server);
    assertEquals(mcp.servers[0]?.state, { type: "ready" });
    assertEquals(mcp.tools, []);
  }
});

Deno.test("hostile results: one that is nested too deep fails its call alone", async () => {
  let depth = 1_500;
  const server = new MockServer({
    handlers: { "tools/call": () => ({ content: [], structuredContent: nest(depth) }) },
  });
  await using mcp = await connectMock(server);
  assertStringIncludes(getText(await callTool(mcp)), "nested too deep");
  depth = 1;
  assertEquals((await callTool(mcp)).isError ?? false, false);
});

Deno.test("hostile results: blocks of unknown and invalid kinds become texts", async () => {
  const content = [
    { type: "text", text: "fine" },
    { type: "video", data: "AAAA" },
    { type: "text" },
    { type: "image", data: "not base64!", mimeType: "image/png" },
    { type: "image", data: "AAAA", mimeType: "image/x-unknown" },
    { type: "resource", resource: { uri: "a:b" } },
    null,
    5,
  ];
  const server = new MockServer({ handlers: { "tools/call": () => ({ content }) } });
  await using mcp = await connectMock(server);
  const result = await callTool(mcp);
  assertEquals(result.content.every(({ type }) => type === "text"), true);
  assertEquals(getText(result).split("\n").slice(0, 2), [
    "fine",
    '[A block of content that cannot be shown; its type: "video"]',
  ]);
});

Deno.test("hostile results: a missing list of content, and a result that is no object, harm nothing", async () => {
  for (const result of [{}, { content: "x" }, { content: {} }, "x", [], 5]) {
    const server = new MockServer({ handlers: { "tools/call": () => result } });
    await using mcp = await connectMock(server);
    await callTool(mcp);
    assertEquals(mcp.servers[0]?.state, { type: "ready" });
  }
});

Deno.test("hostile results: content that is no list, and texts without a block, are shown", async () => {
  for (const content of ["fine", { type: "text", text: "fine" }, ["fine"]]) {
    const server = new MockServer({ handlers: { "tools/call": () => ({ content }) } });
    await using mcp = await connectMock(server);
    assertEquals((await callTool(mcp)).content, [{ type: "text", text: "fine" }]);
  }
});

Deno.test("hostile results: content that is empty, but no list, does not hide a structured result", async () => {
  for (const content of [{}, "", null]) {
    const result = { content, structuredContent: { count: 1 } };
    const server = new MockServer({ handlers: { "tools/call": () => result } });
    await using mcp = await connectMock(server);
    assertEquals(getText(await callTool(mcp)), '{"count":1}');
  }
});

Deno.test("hostile results: long texts and data are cut", async () => {
  const text = "x".repeat(60_000);
  const data = `${btoa("GIF89a")}${"A".repeat(11_999_992)}`;
  const image = { type: "image", data, mimeType: "image/png" };
  const content = [{ type: "text", text }, { type: "text", text }, image, image];
  const server = new MockServer({ handlers: { "tools/call": () => ({ content }) } });
  await using mcp = await connectMock(server, { maxMessageBytes: 100_000_000 });
  const { content: blocks } = await callTool(mcp);
  assertEquals(blocks.map(({ type }) => type), ["text", "text", "image", "text"]);
  const [, second, , last] = blocks.map((block) => block.type === "text" ? block.text : "");
  assertStringIncludes(second ?? "", "[20000 characters omitted]");
  assertEquals(
    last,
    "[Data of the type image/png that cannot be shown: it has 12000000 characters of base64]",
  );
});

Deno.test("hostile results: a structured result that is too large is left out, and its beginning stays as text", async () => {
  const structuredContent = { rows: Array.from({ length: 300_000 }, (_, index) => index) };
  const server = new MockServer({
    handlers: { "tools/call": () => ({ content: [], structuredContent }) },
  });
  await using mcp = await connectMock(server);
  const result = await callTool(mcp);
  assertEquals(result.details, undefined);
  assertEquals(result.content.length, 2);
  const [text, note] = result.content;
  assert(text?.type === "text" && text.text.startsWith('{"rows":[0,1,2,'));
  assert(text.text.length < 101_000);
  const { length } = JSON.stringify(structuredContent);
  assert(note?.type === "text");
  assertStringIncludes(note.text, `is left out: it has ${length} characters`);
});

Deno.test("a server that does not answer: cancelling a call is reported to it, and the server stays usable [8.7]", async () => {
  const called = createDeferred();
  let isSilent = true;
  const server = new MockServer({
    handlers: {
      "tools/call": () => {
        called.resolve();
        return isSilent ? undefined : { content: [] };
      },
    },
  });
  await using mcp = await connectMock(server);
  const controller = new AbortController();
  const calling = callTool(mcp, { context: { signal: controller.signal } }).catch((error) => error);
  await called.promise;
  const secret = new Error("user: the reason with private data");
  controller.abort(secret);
  assertEquals(await calling, secret);
  const isCancellation = ({ method }: { readonly method: string }) =>
    method === "notifications/cancelled";
  await waitUntil(() => server.process.received.some(isCancellation));
  const { params } = server.process.received.find(isCancellation) ?? {};
  const call = server.process.received.find(({ method }) => method === "tools/call");
  assertEquals(params.requestId, call?.id);
  assertEquals(JSON.stringify(params).includes("private"), false);
  isSilent = false;
  assertEquals((await callTool(mcp)).content, []);
});

Deno.test("hostile results: a structured result of the wrong type does not hide the content of the call", async () => {
  const outputSchema = { type: "object", required: ["a"] };
  const results: readonly (readonly [unknown, unknown])[] = [
    [undefined, undefined],
    [null, null],
    [[1], [1]],
    ["x", "x"],
    [5, 5],
  ];
  for (const [structuredContent, details] of results) {
    const content = [{ type: "text", text: "done" }];
    const server = new MockServer({
      tools: [{ name: "echo", inputSchema: { type: "object" }, outputSchema }],
      handlers: { "tools/call": () => ({ content, structuredContent }) },
    });
    await using mcp = await connectMock(server);
    const result = await callTool(mcp);
    assertEquals(result.isError, undefined);
    assertStringIncludes(getText(result), "done");
    assertEquals(getText(result).includes("does not match"), details !== undefined);
    server.tools = [{ name: "echo", inputSchema: { type: "object" } }];
    await mcp.restart("mock");
    assertEquals((await callTool(mcp)).details, details);
  }
});

Deno.test("hostile requests: data of the user is requested only while a call waits, and no longer", async () => {
  const seen: McpElicitation[] = [];
  const ended: boolean[] = [];
  const params = {
    message: "x".repeat(20_000),
    requestedSchema: { type: "object", properties: {} },
  };
  const server = new MockServer({
    handlers: {
      "tools/call": (_message, program) => {
        program.send({ id: "during", method: "elicitation/create", params });
      },
    },
  });
  await using mcp = await connectMock(server, {
    onElicitation: async (request) => {
      seen.push(request);
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      ended.push(request.signal.aborted);
      return { type: "accepted", content: {} };
    },
  });
  const getAnswer = (id: string) =>
    server.process.received.find((message) => message.id === id && !message.method);
  server.process.send({ id: "before", method: "elicitation/create", params });
  await waitUntil(() => getAnswer("before") !== undefined);
  const controller = new AbortController();
  const call = callTool(mcp, { context: { signal: controller.signal } }).catch(() => {});
  await waitUntil(() => seen.length > 0);
  controller.abort(new Error("stop"));
  await call;
  await waitUntil(() => getAnswer("during") !== undefined);
  server.process.send({ id: "after", method: "elicitation/create", params });
  await waitUntil(() => getAnswer("after") !== undefined);
  for (const id of ["before", "during", "after"]) {
    assertObjectMatch(getAnswer(id) ?? {}, { result: { action: "cancel" } });
  }
  assertEquals(seen.map(({ message }) => message.length), [16_384]);
  assertEquals(ended, [true]);
});

Deno.test("hostile requests: the page to visit has no characters that deceive, and a safe protocol", async () => {
  const urls: string[] = [];
  const pages = [
    "https://a.example/\u202e\n",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "HTTPS://B.example",
  ];
  const server = new MockServer({
    handlers: {
      "tools/call": async (_message, program) => {
        for (const [id, url] of pages.entries()) {
          const params = { mode: "url", message: "Visit", url, elicitationId: `${id}` };
          program.send({ id: `e${id}`, method: "elicitation/create", params });
        }
        await waitUntil(() =>
          program.received.filter(({ method }) => !method).length === pages.length
        );
        return { content: [] };
      },
    },
  });
  await using mcp = await connectMock(server, {
    onElicitation: (request) => {
      if (request.type === "url") urls.push(request.url);
      return { type: "accepted" };
    },
  });
  await callTool(mcp);
  assertEquals(urls, ["https://a.example/%E2%80%AE", "https://b.example/"]);
});
