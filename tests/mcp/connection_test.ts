import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { Agent } from "../../mod.ts";
import { getRisk } from "../../src/core/approval/risk.ts";
import { connectMcp, type McpServerStatus, type ProcessSpawner } from "../../src/mcp/mod.ts";
import { ManualClock, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { planMode } from "../../src/tools/approval/plan_mode.ts";
import { waitUntil } from "../wait_until.ts";
import { callTool, getText } from "./call_tool.ts";
import { connectMock, type MockProcess, MockServer } from "./mock_server.ts";

Deno.test("connectMcp(): starts a program with its arguments and only named variables [8.1]", async () => {
  const server = new MockServer();
  const config = {
    mcpServers: {
      mock: {
        command: "${TOOLS}/server",
        args: ["--mode", "${MODE:-fast}"],
        env: { TOKEN: "${TOKEN}" },
        cwd: "/work",
      },
    },
  };
  const base = { PATH: "/bin", HOME: "/home/ada", LANG: "de_CH.UTF-8", LC_ALL: "C", TZ: "UTC" };
  const environment = { ...base, TOOLS: "/opt", TOKEN: "t1", AWS_SECRET_ACCESS_KEY: "s" };
  await using _mcp = await connectMcp(config, { sandbox: server, environment });
  assertEquals(server.process.launch, {
    program: "/opt/server",
    args: ["--mode", "fast"],
    env: { ...base, TOKEN: "t1" },
    cwd: "/work",
  });
});

Deno.test("connectMcp(): offers the tools of a server, which require approval whatever it declares [8.2]", async () => {
  const annotations = { readOnlyHint: true, title: "Reads" };
  const server = new MockServer({
    tools: [{
      name: "read",
      description: "Reads it",
      inputSchema: { type: "object" },
      annotations,
    }],
  });
  await using mcp = await connectMock(server);
  const tool = mcp.tools.find(({ name }) => name === "mcp__mock__read");
  assertEquals([tool?.label, tool?.description], ["Reads (mock)", "Reads it"]);
  assertEquals(tool?.parameters, { type: "object" });
  assertEquals([tool?.readOnly, tool?.requiresApproval, tool?.sideEffect], [false, true, "once"]);
  assert(tool);
  assertEquals(await getRisk(tool, {}), "network");
});

/** Returns the risk of a tool of a program. */
async function getProgramRisk(spawner: Partial<ProcessSpawner>, annotations: object) {
  const server = new MockServer({
    tools: [{ name: "act", inputSchema: { type: "object" }, annotations }],
  });
  await using mcp = await connectMock({ spawn: (launch) => server.spawn(launch), ...spawner });
  const tool = mcp.tools.find(({ name }) => name === "mcp__mock__act");
  assert(tool);
  const risk = await getRisk(tool, {});
  await mcp.close();
  assertEquals(await getRisk(tool, {}), "network"); // The next start may have a network.
  return risk;
}

Deno.test("risk: a program without network executes, and what the server declares only raises that [8.4]", async () => {
  const offline = { isOffline: () => Promise.resolve(true) };
  const online = { isOffline: () => Promise.resolve(false) };
  assertEquals(await getProgramRisk(offline, {}), "execute");
  assertEquals(await getProgramRisk(offline, { readOnlyHint: true }), "execute");
  assertEquals(await getProgramRisk(offline, { openWorldHint: true }), "network");
  assertEquals(
    await getProgramRisk(online, { openWorldHint: false, readOnlyHint: true }),
    "network",
  );
  assertEquals(await getProgramRisk({}, { openWorldHint: false }), "network");
});

Deno.test("readOnly: a pattern excepts a tool that the server declares to change something, a name does not [8.4]", async () => {
  const tools = [
    { name: "get_a", annotations: { readOnlyHint: true } },
    { name: "get_b", annotations: { readOnlyHint: false } },
    { name: "get_c", annotations: { destructiveHint: true } },
    { name: "get_d", annotations: { readOnlyHint: true, destructiveHint: true } },
    { name: "get_e", annotations: { readOnlyHint: false, destructiveHint: true } },
  ].map((tool) => ({ ...tool, inputSchema: { type: "object" } }));
  const servers = { mock: { readOnly: ["get_*", "get_e"] } };
  await using mcp = await connectMock(new MockServer({ tools }), { servers });
  const readOnly = mcp.tools.slice(1).map((tool) => tool.readOnly);
  assertEquals(readOnly, [true, false, false, true, true]);
});

Deno.test("connectMcp(): allow, deny and readOnly are patterns of the program [8.3]", async () => {
  const tools = ["read_a", "read_b", "write_a", "drop"].map((name) => ({
    name,
    inputSchema: { type: "object" },
  }));
  const servers = { mock: { allow: ["*_*"], deny: ["*b"], readOnly: ["read_*"] } };
  await using mcp = await connectMock(new MockServer({ tools }), { servers });
  assertEquals(mcp.servers[0]?.tools, ["mcp__mock__read_a", "mcp__mock__write_a"]);
  const approvals = mcp.tools.slice(1).map((tool) => [tool.readOnly, tool.requiresApproval]);
  assertEquals(approvals, [[true, false], [false, true]]);
});

Deno.test("connectMcp(): a server whose variable is not set fails, and others start", async () => {
  const server = new MockServer();
  const config = {
    mcpServers: {
      good: { command: "good" },
      bad: { command: "bad", env: { TOKEN: "${TOKEN}" } },
    },
  };
  await using mcp = await connectMcp(config, { sandbox: server });
  const [good, bad] = mcp.servers;
  assertEquals(good?.state.type, "ready");
  assertEquals(bad?.state, {
    type: "failed",
    reason:
      "mcpServers.bad.env.TOKEN: the variable TOKEN is not set: pass it in environment, or write ${TOKEN:-default}",
  });
});

Deno.test("connectMcp(): a program without a sandbox fails with the remedy [8.1]", async () => {
  await using mcp = await connectMcp({ mcpServers: { mock: { command: "x" } } });
  const [status] = mcp.servers;
  assert(status?.state.type === "failed");
  assertStringIncludes(
    status.state.reason,
    'pass sandbox: createSandbox() of @swink/agent/tools, or sandbox: "off"',
  );
});

Deno.test("connectMcp(): rejects unknown options and options for unknown servers", async () => {
  const config = { mcpServers: { mock: { command: "x" } } };
  const misspelled = { servers: { mock: { deney: ["a"] } } } as object;
  await assertRejects(
    () => connectMcp(config, misspelled),
    Error,
    'Unknown option "deney" of the server "mock": did you mean deny?',
  );
  await assertRejects(
    () => connectMcp(config, { servers: { mok: {} } }),
    Error,
    'There are options for the server "mok", but the configuration has only: mock',
  );
});

Deno.test("connectMcp(): waits no longer than waitMs for a server that hangs, whose calls fail with the reason [8.11]", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  const server = new MockServer({ handlers: { "server/discover": () => undefined } });
  const connecting = connectMock(server, { now, sleep, waitMs: 5_000, startTimeoutMs: 20_000 });
  await waitUntil(() => server.methods.includes("server/discover"));
  clock.advance(5_000);
  await using mcp = await connecting;
  assertEquals(mcp.servers[0]?.state, { type: "starting" });
  clock.advance(15_000);
  await waitUntil(() => mcp.servers[0]?.state.type === "restarting");
  assertEquals(mcp.servers[0]?.state, {
    type: "restarting",
    reason: "The server did not start within 20000 ms",
  });
});

Deno.test("a server that ends is restarted after pauses that grow, and calls meanwhile state the reason [8.11]", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  let isBroken = false;
  const server = new MockServer({
    onStart: (process) => {
      if (!isBroken) return;
      process.log("no database\n");
      process.exit(3);
    },
  });
  await using mcp = await connectMock(server, { now, sleep });
  isBroken = true;
  server.process.exit(1);
  for (const pause of [1_000, 2_000, 4_000]) {
    await waitUntil(() => clock.waits.at(-1) === pause);
    clock.advance(pause);
  }
  await waitUntil(() => clock.waits.at(-1) === 8_000);
  const result = await callTool(mcp);
  assertEquals(result.isError, true);
  assertEquals(
    getText(result),
    'The MCP server "mock" is being started again. Try again later. Its last failure: ' +
      "The server ended with exit code 3; its last output:\nno database",
  );
  isBroken = false;
  clock.advance(8_000);
  await waitUntil(() => mcp.servers[0]?.state.type === "ready");
  assertEquals(mcp.servers[0]?.restarts, 4);
  assertEquals(getText(await callTool(mcp)), "hello");
});

Deno.test("a server that ends after it had worked for a minute is started again as after a first failure", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  const server = new MockServer();
  await using mcp = await connectMock(server, { now, sleep });
  const endAfter = async (milliseconds: number, pause: number) => {
    await waitUntil(() => mcp.servers[0]?.state.type === "ready");
    clock.advance(milliseconds);
    server.process.exit(1);
    await waitUntil(() => clock.waits.at(-1) === pause);
    clock.advance(pause);
  };
  await endAfter(0, 1_000);
  await endAfter(60_000, 2_000);
  await endAfter(60_001, 1_000);
  await endAfter(0, 2_000);
});

Deno.test("a server that fails ten times is started again only by restart() [8.11]", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  let isBroken = true;
  const server = new MockServer({ onStart: (process) => isBroken && process.exit(1) });
  await using mcp = await connectMock(server, { now, sleep });
  while (mcp.servers[0]?.state.type === "restarting") {
    clock.advanceToNext();
    await new Promise((resolve) => setTimeout(resolve));
  }
  assertEquals(mcp.servers[0]?.state, {
    type: "failed",
    reason: "The server ended with exit code 1",
  });
  assertEquals(server.processes.length, 20); // The second program of each start is not asked for later versions.
  clock.advance(24 * 3_600_000);
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(server.processes.length, 20);
  isBroken = false;
  await mcp.restart("mock");
  assertEquals(mcp.servers[0]?.state, { type: "ready" });
});

Deno.test("a server that never answers fails after ten starts, however long each takes", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  const server = new MockServer({ handlers: { "server/discover": () => undefined } });
  const connecting = connectMock(server, { now, sleep, waitMs: 1, startTimeoutMs: 90_000 });
  clock.advance(1);
  await using mcp = await connecting;
  for (const pause of [1, 2, 4, 8, 16, 32, 60, 60, 60]) {
    await waitUntil(() => clock.waits.at(-1) === 90_000);
    clock.advance(90_000);
    await waitUntil(() => clock.waits.at(-1) === pause * 1_000);
    clock.advance(pause * 1_000);
  }
  await waitUntil(() => clock.waits.at(-1) === 90_000);
  clock.advance(90_000);
  await waitUntil(() => mcp.servers[0]?.state.type === "failed");
});

Deno.test("a server that ends during a call: the result states that the call may have been executed", async () => {
  const server = new MockServer({
    handlers: { "tools/call": (_message, process) => process.exit(139, "SIGSEGV") },
  });
  await using mcp = await connectMock(server);
  const result = await callTool(mcp);
  assertEquals(
    getText(result),
    'The MCP server "mock" ended during the call, which may have been executed or not',
  );
});

Deno.test("a server that ends while it lists its tools states its exit code", async () => {
  const server = new MockServer({
    handlers: { "tools/list": (_message, process) => process.exit(5) },
  });
  await using mcp = await connectMock(server);
  const [status] = mcp.servers;
  assert(status?.state.type === "restarting");
  assertEquals(status.state.reason, "The server ended with exit code 5");
});

Deno.test("a server that ends while it is asked for later versions is started again without", async () => {
  const server = new MockServer({
    handlers: { "server/discover": (_message, process) => process.exit(1) },
  });
  await using mcp = await connectMock(server);
  assertEquals(mcp.servers[0]?.state, { type: "ready" });
  assertEquals(server.methods.slice(0, 2), ["server/discover", "initialize"]);
});

Deno.test("close(): ends all programs, and calls fail from then on", async () => {
  const server = new MockServer();
  const mcp = await connectMock(server);
  await mcp.close();
  assertEquals(await server.process.exited, { code: 0, signal: null });
  assertEquals(mcp.servers[0]?.state, { type: "closed" });
  await mcp.restart("mock");
  assertEquals(getText(await callTool(mcp)), 'The MCP server "mock" was closed');
});

Deno.test("close(): ends servers that are starting or waiting to be restarted", async () => {
  const hanging = new MockServer({ handlers: { "server/discover": () => undefined } });
  const mcp = await connectMock(hanging, { waitMs: 0 });
  await mcp.close();
  const crashing = new MockServer({ onStart: (process) => process.exit(1) });
  const other = await connectMock(crashing);
  await other.close();
  assertEquals([mcp, other].map(({ servers }) => servers[0]?.state.type), ["closed", "closed"]);
});

Deno.test("onStatus: is called with each state and list of tools; an observer that throws or rejects is reported", async () => {
  const fail = () => {
    throw new Error("no screen");
  };
  for (const end of [fail, () => Promise.reject(new Error("no screen"))]) {
    const states: McpServerStatus[] = [];
    const warnings: string[] = [];
    const mcp = await connectMock(new MockServer(), {
      onStatus: (status) => {
        states.push(status);
        return end();
      },
      onWarning: ({ message }) => Promise.reject(warnings.push(message)),
    });
    await mcp.close();
    assertEquals(states.map(({ state, tools }) => [state.type, tools]), [
      ["ready", ["mcp__mock__echo"]],
      ["closed", ["mcp__mock__echo"]],
    ]);
    assertMatch(warnings[0] ?? "", /observer failed.*no screen/);
  }
});

Deno.test("onStatus: is not called for a change after which the list of tools is the same", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  const server = new MockServer();
  const lists: (readonly string[])[] = [];
  await using mcp = await connectMock(server, {
    now,
    sleep,
    onStatus: ({ tools }) => lists.push(tools),
  });
  announceTools(server.process);
  await waitUntil(() => clock.waits.includes(1_000));
  clock.advance(1_000);
  server.tools = [NEW_TOOL];
  announceTools(server.process);
  await waitUntil(() => mcp.servers[0]?.tools[0] === "mcp__mock__new");
  assertEquals(lists, [["mcp__mock__echo"], ["mcp__mock__new"]]);
});

Deno.test("reasons of failures have no values of the environment [8.1]", async () => {
  const server = new MockServer({
    onStart: (process) => {
      process.log("invalid token s3cr3t-value\n");
      process.exit(1);
    },
  });
  const config = { mcpServers: { mock: { command: "x", env: { TOKEN: "s3cr3t-value" } } } };
  await using mcp = await connectMcp(config, { sandbox: server });
  const [status] = mcp.servers;
  assert(status?.state.type === "restarting");
  assertStringIncludes(status.state.reason, "invalid token [redacted]");
});

Deno.test("warnings have no values of the environment [8.1]", async () => {
  const warnings: string[] = [];
  const server = new MockServer({ tools: [{ name: "s3cr3t-value" }] });
  const config = { mcpServers: { mock: { command: "x", env: { TOKEN: "s3cr3t-value" } } } };
  const onWarning = ({ message }: { readonly message: string }) => void warnings.push(message);
  await using _mcp = await connectMcp(config, { sandbox: server, onWarning });
  assertEquals(warnings.length, 1);
  assertStringIncludes(warnings.join(), 'lists the tool "[redacted]"');
});

Deno.test("reasons of failures have no secrets of the arguments [8.1]", async () => {
  const server = new MockServer({
    onStart: (process) => {
      process.log(`Usage: ${process.launch.args.join(" ")}\n`);
      process.exit(1);
    },
  });
  const args = [
    "server.js",
    "${PASSWORD}",
    "--api-key=s3cr3t-key",
    "--header",
    "X-Token: s3cr3t-header",
    "--auth-token",
    "s3cr3t-token",
    "${URL:-http://a.test}",
  ];
  const config = { mcpServers: { mock: { command: "x", args } } };
  const environment = { PASSWORD: "s3cr3t-password" };
  await using mcp = await connectMcp(config, { sandbox: server, environment });
  const [status] = mcp.servers;
  assert(status?.state.type === "restarting");
  assertEquals(status.state.reason.includes("s3cr3t"), false, status.state.reason);
  assertStringIncludes(status.state.reason, "server.js");
  assertStringIncludes(status.state.reason, "http://a.test");
});

/** Notifies the client of a change of the tools. */
function announceTools(process: MockProcess): void {
  process.send({ method: "notifications/tools/list_changed" });
}

const NEW_TOOL = { name: "new", inputSchema: { type: "object" } };

Deno.test("attach(): an agent has the changed tools from the next turn on, and keeps its own [8.9]", async () => {
  const server = new MockServer();
  await using mcp = await connectMock(server);
  const own = {
    name: "own",
    description: "",
    parameters: { type: "object" },
    execute: changeTools,
  };
  async function changeTools() {
    server.tools = [NEW_TOOL];
    announceTools(server.process);
    await waitUntil(() => agent.state.tools.some(({ name }) => name === "mcp__mock__new"));
    return "changed";
  }
  const streamFn = scriptedStream([reply([toolCall("own", {})]), reply("done")]);
  const agent = new Agent({ model: "a/b", streamFn, tools: [own], policies: [mcp.policy] });
  mcp.attach(agent);
  await agent.prompt("Go");
  const names = streamFn.calls.map(({ context }) => context.tools.map(({ name }) => name));
  assertEquals(names, [["own", "mcp__mock__echo"], ["own", "mcp__mock__new"]]);
});

Deno.test("attach(): adds only the tools that the function selects, also after a change", async () => {
  const server = new MockServer();
  await using mcp = await connectMock(server, { servers: { mock: { readOnly: ["read*"] } } });
  const agent = new Agent({ model: "a/b", streamFn: scriptedStream([]) });
  mcp.attach(agent, planMode);
  assertEquals(agent.state.tools.map(({ name }) => name), ["mcp_search_tools"]);
  server.tools = [NEW_TOOL, { ...NEW_TOOL, name: "read_it" }];
  announceTools(server.process);
  await waitUntil(() => mcp.tools.some(({ name }) => name === "mcp__mock__new"));
  const names = agent.state.tools.map(({ name }) => name);
  assertEquals(names, ["mcp_search_tools", "mcp__mock__read_it"]);
});

Deno.test("attach(): leaves out a tool whose name the agent uses, and ends with the returned function", async () => {
  const server = new MockServer();
  await using mcp = await connectMock(server);
  const own = {
    name: "mcp__mock__echo",
    description: "own",
    parameters: { type: "object" },
    execute: () => Promise.resolve(""),
  };
  const agent = new Agent({ model: "a/b", streamFn: scriptedStream([]), tools: [own] });
  const detach = mcp.attach(agent);
  assertEquals(agent.state.tools.map(({ description }) => description).includes("own"), true);
  detach();
  server.tools = [NEW_TOOL];
  announceTools(server.process);
  await waitUntil(() => mcp.tools.some(({ name }) => name === "mcp__mock__new"));
  assertEquals(agent.state.tools.some(({ name }) => name === "mcp__mock__new"), false);
});

Deno.test("a storm of list changes causes one request per second, and the last list is used [8.9]", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  const server = new MockServer();
  await using mcp = await connectMock(server, { now, sleep });
  for (let count = 0; count < 500; count++) announceTools(server.process);
  await waitUntil(() => server.methods.filter((method) => method === "tools/list").length === 2);
  server.tools = [NEW_TOOL];
  for (let count = 0; count < 400; count++) announceTools(server.process);
  await waitUntil(() => clock.waits.includes(1_000));
  clock.advance(1_000);
  await waitUntil(() => mcp.servers[0]?.tools[0] === "mcp__mock__new");
  assertEquals(server.methods.filter((method) => method === "tools/list").length, 3);
});

Deno.test("connectMcp(): calls carry the headers of a trace in their metadata, if there is one", async () => {
  const metadata: unknown[] = [];
  const server = new MockServer({
    handlers: {
      "tools/call": ({ params }) => {
        metadata.push(params._meta?.traceparent);
        return { content: [] };
      },
    },
  });
  await using mcp = await connectMock(server);
  await callTool(mcp, { context: { traceHeaders: { traceparent: "00-1-2-01" } } });
  await callTool(mcp);
  assertEquals(metadata, ["00-1-2-01", undefined]);
});
