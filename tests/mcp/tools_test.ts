import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../mod.ts";
import type { ToolUpdate } from "../../src/core/messages/tool_result.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import type { McpElicitation, McpElicitationAnswer } from "../../src/mcp/mod.ts";
import { ManualClock, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { waitUntil } from "../wait_until.ts";
import { callTool, getText } from "./call_tool.ts";
import { connectMock, type MockHandler, MockServer } from "./mock_server.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Connects to a server whose tool returns a result. */
function connectResult(result: object, tool: object = {}) {
  const tools = [{ name: "echo", inputSchema: { type: "object" }, ...tool }];
  return connectMock(new MockServer({ tools, handlers: { "tools/call": () => result } }));
}

Deno.test("results: texts, images, audio, resources and links become content blocks [8.5]", async () => {
  await using mcp = await connectResult({
    content: [
      { type: "text", text: "Text", annotations: { priority: 1 } },
      { type: "image", data: PIXEL, mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "A" } },
      {
        type: "resource",
        resource: { uri: "file:///b.pdf", mimeType: "application/pdf", blob: "AAAA" },
      },
      { type: "resource", resource: { uri: "file:///c.bin", blob: "AAAA" } },
      { type: "resource_link", uri: "file:///d.txt", name: "d", title: "D", description: "The d" },
    ],
  });
  assertEquals((await callTool(mcp)).content, [
    { type: "text", text: "Text" },
    { type: "image", source: { type: "base64", mediaType: "image/png", data: PIXEL } },
    { type: "audio", source: { type: "base64", data: "AAAA" }, mediaType: "audio/wav" },
    { type: "text", text: "[Resource file:///a.txt]" },
    { type: "text", text: "A" },
    { type: "text", text: "[Resource file:///b.pdf]" },
    { type: "document", source: { type: "base64", data: "AAAA" }, mediaType: "application/pdf" },
    { type: "text", text: "[Resource file:///c.bin]" },
    {
      type: "text",
      text:
        "[Data of the type application/octet-stream that cannot be shown: the type is not supported]",
    },
    { type: "text", text: "[Link to the resource file:///d.txt: D; The d]" },
  ]);
});

Deno.test("results: an image has the type of its data, and data of another format becomes a text", async () => {
  const jpeg = btoa("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01");
  await using mcp = await connectResult({
    content: [
      { type: "image", data: jpeg, mimeType: "image/png" },
      { type: "image", data: jpeg, mimeType: "image/jpg" },
      { type: "resource", resource: { uri: "a:b", mimeType: "image/webp", blob: PIXEL } },
      { type: "image", data: btoa("<html>"), mimeType: "image/png" },
    ],
  });
  const createImage = (mediaType: string, data: string) => ({
    type: "image" as const,
    source: { type: "base64" as const, mediaType, data },
  });
  assertEquals((await callTool(mcp)).content, [
    createImage("image/jpeg", jpeg),
    createImage("image/jpeg", jpeg),
    { type: "text", text: "[Resource a:b]" },
    createImage("image/png", PIXEL),
    {
      type: "text",
      text:
        "[Data of the type image/png that cannot be shown: it is no image in a supported format]",
    },
  ]);
});

Deno.test("results: a text that a server sends as base64 is a text", async () => {
  const resource = (mimeType: string, data: string) => ({
    type: "resource",
    resource: { uri: "a:b", mimeType, blob: btoa(data) },
  });
  await using mcp = await connectResult({
    content: [
      resource("text/plain; charset=utf-8", "caf\xc3\xa9"),
      resource("application/json", "[1]"),
      resource("image/svg+xml", "<svg/>"),
      resource("text/plain", "\xff"),
    ],
  });
  const label = "[Resource a:b]";
  const { content } = await callTool(mcp);
  assertEquals(content.map((block) => block.type === "text" ? block.text : block.type), [
    label,
    "café",
    label,
    "[1]",
    label,
    "[Data of the type image/svg+xml that cannot be shown: it is no image in a supported format]",
    label,
    "[Data of the type text/plain that cannot be shown: it is no UTF-8 text]",
  ]);
});

Deno.test("results: isError makes an error result", async () => {
  await using mcp = await connectResult({ content: [{ type: "text", text: "No" }], isError: true });
  assertEquals(await callTool(mcp), { content: [{ type: "text", text: "No" }], isError: true });
});

Deno.test("results: an error response makes an error result with its message", async () => {
  const handler: MockHandler = ({ id }, process) =>
    process.send({ id, error: { code: -32602, message: "Unknown city" } });
  await using mcp = await connectMock(new MockServer({ handlers: { "tools/call": handler } }));
  const result = await callTool(mcp);
  assertEquals(result.isError, true);
  assertStringIncludes(getText(result), "Unknown city");
});

Deno.test("results: the message of an error response is cut", async () => {
  const handler: MockHandler = ({ id }, process) =>
    process.send({ id, error: { code: 1, message: "x".repeat(1_000_000) } });
  await using mcp = await connectMock(new MockServer({ handlers: { "tools/call": handler } }));
  assert(getText(await callTool(mcp)).length < 5_000);
});

const OUTPUT_SCHEMA = {
  type: "object",
  properties: { degrees: { type: "number" } },
  required: ["degrees"],
};

Deno.test("results: a structured result becomes the details, and the text if there is no other [8.5]", async () => {
  await using mcp = await connectResult(
    { content: [], structuredContent: { degrees: 21 } },
    { outputSchema: OUTPUT_SCHEMA },
  );
  assertEquals(await callTool(mcp), {
    content: [{ type: "text", text: '{"degrees":21}' }],
    details: { degrees: 21 },
  });
});

Deno.test("results: a structured result that does not match its schema is noted, and no details", async () => {
  await using mcp = await connectResult(
    { content: [{ type: "text", text: "warm" }], structuredContent: { degrees: "warm" } },
    { outputSchema: OUTPUT_SCHEMA },
  );
  const result = await callTool(mcp);
  assertEquals(result.details, undefined);
  assertEquals(
    getText(result),
    "warm\n[The structured result does not match its schema:\n- /degrees: must be number]",
  );
});

Deno.test("calls: progress of the server becomes updates [8.7]", async () => {
  const updates: ToolUpdate[] = [];
  const handler: MockHandler = ({ params }, process) => {
    const { progressToken } = params._meta;
    for (const details of [{ progress: 1 }, { progress: 2, total: 4, message: "Half" }]) {
      process.send({ method: "notifications/progress", params: { progressToken, ...details } });
    }
    process.send({ method: "notifications/progress", params: { progressToken: 99, progress: 3 } });
    return { content: [] };
  };
  await using mcp = await connectMock(new MockServer({ handlers: { "tools/call": handler } }));
  await callTool(mcp, { context: { onUpdate: (update) => void updates.push(update) } });
  assertEquals(updates, ["1", "Half (2 of 4)"]);
});

Deno.test("calls: the agent validates arguments by the schema of the server, and limits the time", async () => {
  const called = createDeferred();
  const handler: MockHandler = () => called.resolve();
  await using mcp = await connectMock(new MockServer({ handlers: { "tools/call": handler } }));
  const streamFn = scriptedStream([
    reply([toolCall("mcp__mock__echo", { text: 5 })]),
    reply([toolCall("mcp__mock__echo", { text: "hello" })]),
    reply("done"),
  ]);
  const tools = mcp.tools.map((tool) => ({ ...tool, timeoutMs: 50 }));
  const result = await new Agent({ model: "a/b", streamFn, tools }).prompt("Go");
  await called.promise;
  const texts = result.messages.flatMap((message) =>
    message.role === "tool_result" ? [getText({ content: message.content })] : []
  );
  assertStringIncludes(texts[0] ?? "", "/text: must be string");
  assertStringIncludes(texts[1] ?? "", "50 ms");
});

/** A tool that asks the user for data, and returns the answer. */
const askUser: MockHandler = ({ id }, process) => {
  process.send({
    id: `ask ${id}`,
    method: "elicitation/create",
    params: {
      message: "Your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } } },
    },
  });
  const timer = setInterval(() => {
    const answer = process.received.find((message) => message.id === `ask ${id}`);
    if (!answer) return;
    clearInterval(timer);
    process.send({ id, result: { content: [{ type: "text", text: JSON.stringify(answer) }] } });
  }, 1);
};

Deno.test("elicitation: requests go to the program, and its answers to the server [8.8]", async () => {
  const requests: McpElicitation[] = [];
  const server = new MockServer({ handlers: { "tools/call": askUser } });
  await using mcp = await connectMock(server, {
    onElicitation: (request) => {
      requests.push(request);
      return { type: "accepted", content: { name: "Ada" } };
    },
  });
  const text = getText(await callTool(mcp));
  assertEquals(JSON.parse(text).result, { action: "accept", content: { name: "Ada" } });
  const [request] = requests;
  assert(request);
  assertEquals(request, {
    signal: request.signal,
    type: "form",
    server: "mock",
    message: "Your name?",
    schema: { type: "object", properties: { name: { type: "string" } } },
  });
});

Deno.test("elicitation: the time in which the user answers does not count for the timeout of a call", async () => {
  const clock = new ManualClock();
  const asked = createDeferred();
  const answer = createDeferred<McpElicitationAnswer>();
  const server = new MockServer({
    handlers: {
      "tools/call": (message, process) =>
        message.params.arguments.text === "ask" ? askUser(message, process) : undefined,
    },
  });
  await using mcp = await connectMock(server, {
    onElicitation: () => {
      asked.resolve();
      return answer.promise;
    },
  });
  const streamFn = scriptedStream([
    reply(["ask", "wait"].map((text) => toolCall("mcp__mock__echo", { text }))),
    reply("done"),
  ]);
  const tools = mcp.tools.map((tool) => ({ ...tool, timeoutMs: 50 }));
  const agent = new Agent({ model: "a/b", streamFn, tools, now: clock.now, sleep: clock.sleep });
  const ended = createDeferred();
  agent.subscribe(({ type }) => {
    if (type === "tool_execution_end") ended.resolve();
  });
  const running = agent.prompt("Go");
  await asked.promise;
  clock.advance(60_000);
  answer.resolve({ type: "accepted", content: { name: "Ada" } });
  await ended.promise;
  clock.advance(50);
  const { messages } = await running;
  const [first, second] = messages.filter(({ role }) => role === "tool_result");
  assertStringIncludes(JSON.stringify(first), "Ada");
  assertStringIncludes(JSON.stringify(second), "timed out after 50 ms");
});

Deno.test("elicitation: a function that throws declines; without one the request is refused [8.8]", async () => {
  const server = new MockServer({ handlers: { "tools/call": askUser } });
  await using failing = await connectMock(server, {
    onElicitation: () => {
      throw new Error("no terminal");
    },
  });
  assertEquals(JSON.parse(getText(await callTool(failing))).result, { action: "decline" });
  await using refusing = await connectMock(server);
  assertEquals(JSON.parse(getText(await callTool(refusing))).error.code, -32601);
});

Deno.test("elicitation: a call that requires the visit of a page asks the user for it", async () => {
  const page = { mode: "url", message: "Sign in", elicitationId: "e", url: "https://a.test/login" };
  const elicitations: unknown[] = [page, { ...page, url: "https://a.test/consent" }];
  const handler: MockHandler = ({ id }, process) =>
    process.send({ id, error: { code: -32042, message: "Sign in", data: { elicitations } } });
  const server = new MockServer({ handlers: { "tools/call": handler } });
  const pages: unknown[] = [];
  let answer: McpElicitationAnswer = { type: "accepted" };
  await using mcp = await connectMock(server, {
    onElicitation: ({ signal: _signal, ...request }) => {
      pages.push(request);
      return answer;
    },
  });
  assertEquals(await callTool(mcp), {
    content: [{
      type: "text",
      text:
        "The server required that the user visits a page first, which the user has confirmed. " +
        "Call the tool again",
    }],
    isError: true,
  });
  assertEquals(pages, [
    { type: "url", server: "mock", message: "Sign in", url: "https://a.test/login" },
    { type: "url", server: "mock", message: "Sign in", url: "https://a.test/consent" },
  ]);

  answer = { type: "declined" };
  const declined = "The server requires that the user visits a page first, which was declined";
  assertEquals(getText(await callTool(mcp)), declined);
  assertEquals(pages.length, 3);
  elicitations.splice(0, 2, { ...page, url: "file:///etc/passwd" }, null);
  assertEquals(getText(await callTool(mcp)), declined);
  assertEquals(pages.length, 3);

  await using other = await connectMock(server);
  assertStringIncludes(getText(await callTool(other)), "Sign in");
});

Deno.test("prompts and resources: are listed by server and read as content blocks [8.6]", async () => {
  const server = new MockServer({
    handlers: {
      "prompts/list": () => ({
        prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }, { name: 5 }],
      }),
      "prompts/get": ({ params }) => ({
        description: "Greets",
        messages: [{
          role: "user",
          content: { type: "text", text: `Greet ${params.arguments.who}` },
        }],
      }),
      "resources/list": () => ({ resources: [{ uri: "a:b", name: "B", mimeType: "text/plain" }] }),
      "resources/read": ({ params }) => ({ contents: [{ uri: params.uri, text: "content" }] }),
    },
  });
  await using mcp = await connectMock(server);
  assertEquals(await mcp.listPrompts(), [
    { server: "mock", name: "greet", arguments: [{ name: "who", required: true }] },
  ]);
  assertEquals(
    await mcp.getPrompt({ server: "mock", name: "greet", arguments: { who: "Ada" } }),
    {
      description: "Greets",
      messages: [{ role: "user", content: [{ type: "text", text: "Greet Ada" }] }],
    },
  );
  const [resource] = await mcp.listResources();
  assertEquals(resource, { server: "mock", uri: "a:b", name: "B", mimeType: "text/plain" });
  assertEquals(await mcp.readResource({ server: "mock", uri: "a:b" }), [
    { type: "text", text: "[Resource a:b]" },
    { type: "text", text: "content" },
  ]);
});

Deno.test("resource templates: are listed over pages, without those that are invalid [8.6]", async () => {
  const server = new MockServer({
    handlers: {
      "resources/templates/list": ({ params }) =>
        params.cursor === "2" ? { resourceTemplates: [{ uriTemplate: "b:{+path}" }] } : {
          resourceTemplates: [
            {
              uriTemplate: "a:{id}",
              name: "A",
              title: "An a",
              description: "The a",
              mimeType: "text/plain",
              extra: 1,
            },
            { name: "no template" },
            { uriTemplate: "x".repeat(10_000), name: "too long" },
            null,
          ],
          nextCursor: "2",
        },
    },
  });
  const warnings: string[] = [];
  await using mcp = await connectMock(server, {
    onWarning: ({ message }) => warnings.push(message),
  });
  assertEquals(await mcp.listResourceTemplates(), [
    {
      server: "mock",
      uriTemplate: "a:{id}",
      name: "A",
      title: "An a",
      description: "The a",
      mimeType: "text/plain",
    },
    { server: "mock", uriTemplate: "b:{+path}", name: "b:{+path}" },
  ]);
  assertStringIncludes(warnings.join(), "resource template without a valid URI template");
});

Deno.test("elicitation: of many requests at the same time, one is asked about after the other, and most are declined", async () => {
  const count = 20;
  let open = 0;
  let asked = 0;
  const server = new MockServer({
    handlers: {
      "tools/call": async (_message, program) => {
        const params = { message: "Name?", requestedSchema: { type: "object", properties: {} } };
        for (let id = 0; id < count; id++) {
          program.send({ id: `e${id}`, method: "elicitation/create", params });
        }
        const isAnswered = () => program.received.filter(({ method }) => !method).length === count;
        await waitUntil(isAnswered);
        const answers = program.received.map((message) => JSON.stringify(message));
        const declined = answers.filter((answer) => answer.includes('"decline"'));
        return { content: [{ type: "text", text: `${declined.length} declined` }] };
      },
    },
  });
  await using mcp = await connectMock(server, {
    onElicitation: async () => {
      asked++;
      open++;
      assertEquals(open, 1);
      await new Promise((resolve) => setTimeout(resolve));
      open--;
      return { type: "accepted", content: {} };
    },
  });
  assertEquals(getText(await callTool(mcp)), "12 declined");
  assertEquals(asked, 8);
});

Deno.test("elicitation: a server that asks again and again during a call is answered without the user in the end", async () => {
  const asked: number[] = [];
  const warnings: string[] = [];
  const server = new MockServer({
    handlers: {
      "tools/call": async (_message, program) => {
        const params = { message: "Name?", requestedSchema: { type: "object", properties: {} } };
        const first = program.received.length;
        for (let id = 0; id < 100; id++) {
          program.send({ id: `e${first}${id}`, method: "elicitation/create", params });
          await waitUntil(() => program.received.length === first + id + 1);
        }
        return { content: [{ type: "text", text: "done" }] };
      },
    },
  });
  let count = 0;
  await using mcp = await connectMock(server, {
    onElicitation: () => (count++, { type: "declined" }),
    onWarning: ({ message }) => warnings.push(message),
  });
  for (let call = 0; call < 2; call++) {
    count = 0;
    assertEquals(getText(await callTool(mcp)), "done");
    asked.push(count);
  }
  assertEquals(asked, [32, 32]);
  assertStringIncludes(warnings.join(), "asked the user 32 times");
});
