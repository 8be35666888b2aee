import { assertEquals, assertStringIncludes } from "@std/assert";
import type { McpWarning } from "../../src/mcp/mod.ts";
import { ManualClock } from "../../src/testing/mod.ts";
import { waitUntil } from "../wait_until.ts";
import { callTool, getText } from "./call_tool.ts";
import { connectMock, type MockHandler, MockServer } from "./mock_server.ts";
import { askInResult, createModernHandlers } from "./modern_server.ts";

const ECHO = { name: "echo", inputSchema: { type: "object" } };

Deno.test("protocol 2026-07-28: is negotiated without a session, and tools are called [8.14]", async () => {
  const server = new MockServer({ handlers: createModernHandlers(() => [ECHO]) });
  await using mcp = await connectMock(server);
  const [status] = mcp.servers;
  assertEquals([status?.state.type, status?.protocolVersion], ["ready", "2026-07-28"]);
  assertEquals(status?.serverInfo, { name: "modern", version: "2" });
  assertEquals(status?.instructions, "Be careful");
  assertEquals(getText(await callTool(mcp)), "hello");
  assertEquals(server.methods.includes("initialize"), false);
  const call = server.process.received.find(({ method }) => method === "tools/call");
  assertEquals(call?.params._meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
});

Deno.test("protocol 2026-07-28: changes of the list of tools arrive by subscription", async () => {
  let tools = [ECHO];
  const server = new MockServer({ handlers: createModernHandlers(() => tools) });
  await using mcp = await connectMock(server);
  await waitUntil(() => server.methods.includes("subscriptions/listen"));
  const listen = server.process.received.find(({ method }) => method === "subscriptions/listen");
  tools = [{ ...ECHO, name: "new" }];
  server.process.send({
    method: "notifications/tools/list_changed",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": listen?.id } },
  });
  await waitUntil(() => mcp.servers[0]?.tools[0] === "mcp__mock__new");
});

Deno.test("protocol 2026-07-28: a subscription that the server ends is repeated, and the list read again", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  let tools = [ECHO];
  const server = new MockServer({ handlers: createModernHandlers(() => tools) });
  await using mcp = await connectMock(server, { now, sleep, waitMs: 1_000 });
  const countSubscriptions = () =>
    server.methods.filter((method) => method === "subscriptions/listen").length;
  await waitUntil(() => countSubscriptions() === 1);
  const listen = server.process.received.find(({ method }) => method === "subscriptions/listen");
  server.process.send({ id: listen?.id, result: { resultType: "complete" } });
  await waitUntil(() => clock.waits.includes(5_000));
  tools = [{ ...ECHO, name: "new" }];
  clock.advance(5_000);
  await waitUntil(() => mcp.servers[0]?.tools[0] === "mcp__mock__new");
  await waitUntil(() => countSubscriptions() === 2);
});

Deno.test("protocol 2026-07-28: a list that changed during a long outage is read after the next subscription", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  let tools = [ECHO];
  let isDown = false;
  const handlers = createModernHandlers(() => tools);
  const refuse: MockHandler = ({ id }, process) =>
    process.send({ id, error: { code: -32603, message: "Down" } });
  const answerUnlessDown = (method: string): MockHandler => (message, process) =>
    isDown ? refuse(message, process) : handlers[method]?.(message, process);
  const server = new MockServer({
    handlers: {
      ...handlers,
      "tools/list": answerUnlessDown("tools/list"),
      "subscriptions/listen": answerUnlessDown("subscriptions/listen"),
    },
  });
  const warnings: string[] = [];
  const onWarning = ({ message }: McpWarning) => void warnings.push(message);
  await using mcp = await connectMock(server, { now, sleep, waitMs: 1_000, onWarning });
  const countSubscriptions = () =>
    server.methods.filter((method) => method === "subscriptions/listen").length;
  await waitUntil(() => countSubscriptions() === 1);
  const listen = server.process.received.find(({ method }) => method === "subscriptions/listen");
  const started = clock.waits.length;
  const getPauses = () => clock.waits.slice(started);
  isDown = true;
  server.process.send({ id: listen?.id, result: { resultType: "complete" } });
  for (let attempt = 1; attempt <= 7; attempt++) {
    await waitUntil(() => getPauses().length === attempt);
    if (attempt === 7) {
      isDown = false;
      tools = [{ ...ECHO, name: "new" }];
    }
    clock.advance(60_000);
    await waitUntil(() => countSubscriptions() === attempt + 1);
  }
  await waitUntil(() => mcp.servers[0]?.tools[0] === "mcp__mock__new");
  assertEquals(getPauses().slice(0, 7), [5_000, 5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  assertEquals(warnings, []);
});

Deno.test("protocol 2026-07-28: a list that changed before the first subscription succeeds is read again", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  let tools = [ECHO];
  const handlers = createModernHandlers(() => tools);
  const listen: MockHandler = (message, process) =>
    tools.length === 1
      ? process.send({ id: message.id, error: { code: -32603, message: "Down" } })
      : handlers["subscriptions/listen"]?.(message, process);
  const server = new MockServer({ handlers: { ...handlers, "subscriptions/listen": listen } });
  await using mcp = await connectMock(server, { now, sleep, waitMs: 1_000 });
  await waitUntil(() => clock.waits.includes(5_000));
  tools = [ECHO, { ...ECHO, name: "new" }];
  clock.advance(5_000);
  await waitUntil(() => mcp.servers[0]?.tools.length === 2);
});

Deno.test("protocol 2026-07-28: a request for data in a result is answered by the program", async () => {
  const handlers = { ...createModernHandlers(() => [ECHO]), "tools/call": askInResult };
  await using mcp = await connectMock(new MockServer({ handlers }), {
    onElicitation: ({ message }) => ({ type: "accepted", content: { name: `Ada: ${message}` } }),
  });
  const result = await callTool(mcp);
  assertStringIncludes(getText(result), "Ada: Your name?");
});

Deno.test("protocol 2026-07-28: a request for data fails the call if the program answers none", async () => {
  const handlers = { ...createModernHandlers(() => [ECHO]), "tools/call": askInResult };
  await using mcp = await connectMock(new MockServer({ handlers }));
  assertEquals((await callTool(mcp)).isError, true);
});
