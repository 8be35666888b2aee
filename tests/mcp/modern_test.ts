import { assertEquals, assertStringIncludes } from "@std/assert";
import { ManualClock } from "../../src/testing/mod.ts";
import { waitUntil } from "../wait_until.ts";
import { callTool, getText } from "./call_tool.ts";
import { connectMock, MockServer } from "./mock_server.ts";
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
