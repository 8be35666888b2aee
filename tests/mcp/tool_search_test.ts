import * as clientPackage from "@modelcontextprotocol/client";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Agent, type AgentMessage } from "../../mod.ts";
import { estimateToolTokens } from "../../src/core/streams/tokens.ts";
import { connectMcp } from "../../src/mcp/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { reply, type ScriptedStep, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { createPlanMode } from "../../src/tools/plan/mod.ts";
import { getText } from "./call_tool.ts";
import { connectMock, MockServer } from "./mock_server.ts";

const SUBJECTS = ["issue", "branch", "release", "label", "comment"];
const VERBS = ["create", "delete", "list", "update"];

/** Twenty tools with descriptions of about 500 tokens each. */
const TOOLS = SUBJECTS.flatMap((subject) =>
  VERBS.map((verb) => ({
    name: `${verb}_${subject}`,
    description: `Can ${verb} a ${subject}. ${"Some details. ".repeat(150)}`,
    inputSchema: { type: "object" },
  }))
);

/** Runs an agent with the tools of a server; returns the names of the tools in each request. */
async function run(
  steps: readonly ScriptedStep[],
  { contextWindow, messages = [] }: {
    readonly contextWindow: number;
    readonly messages?: readonly AgentMessage[];
  },
) {
  const server = new MockServer({
    tools: TOOLS,
    handlers: {
      "tools/call": ({ params }) => ({ content: [{ type: "text", text: params.name }] }),
    },
  });
  await using mcp = await connectMock(server);
  const streamFn = scriptedStream(steps, { contextWindow: () => contextWindow });
  const agent = new Agent({ model: "a/b", streamFn, policies: [mcp.policy], messages });
  mcp.attach(agent);
  const result = await agent.prompt("Go");
  const requests = streamFn.calls.map(({ context }) => context.tools);
  return { names: requests.map((tools) => tools.map(({ name }) => name)), requests, result };
}

Deno.test("tool search: without need, all tools are described and the search tool is not", async () => {
  const { names } = await run([reply("done")], { contextWindow: 200_000 });
  assertEquals(names[0]?.length, TOOLS.length);
  assertEquals(names[0]?.includes("mcp_search_tools"), false);
});

Deno.test("tool search: tools that exceed a tenth of the window are found first, and can be called in the next turn [8.10]", async () => {
  const { names, result } = await run([
    reply([toolCall("mcp__mock__delete_label", {})]),
    reply([toolCall("mcp_search_tools", { query: "create an issue" })]),
    reply([toolCall("mcp__mock__create_issue", {})]),
    reply("done"),
  ], { contextWindow: 50_000 });
  assertEquals(names[0], ["mcp_search_tools"]);
  assert(names[2]?.includes("mcp__mock__create_issue"));
  const texts = result.messages.flatMap((message) =>
    message.role === "tool_result" ? [getText({ content: message.content })] : []
  );
  assertStringIncludes(texts[0] ?? "", 'Tool "mcp__mock__delete_label" not found');
  assertStringIncludes(
    texts[1] ?? "",
    "- mcp__mock__create_issue: Can create a issue. Some details.",
  );
  assertEquals(texts[2], "create_issue");
});

Deno.test("tool search: described tools stay within a tenth of the window, the latest first [8.10]", async () => {
  const search = (query: string) => reply([toolCall("mcp_search_tools", { query })]);
  const contextWindow = 50_000;
  const { requests, names } = await run(
    [search("issue"), search("branch"), search("release"), search("label"), reply("done")],
    { contextWindow },
  );
  for (const tools of requests) assert(estimateToolTokens(tools) <= contextWindow / 10 + 200);
  assert(names[4]?.includes("mcp__mock__list_label"));
  assertEquals(names[4]?.includes("mcp__mock__list_issue"), false);
});

Deno.test("tool search: a resumed history has the tools that were found in it", async () => {
  const first = await run([
    reply([toolCall("mcp_search_tools", { query: "release" })]),
    reply("done"),
  ], { contextWindow: 50_000 });
  const messages = JSON.parse(JSON.stringify(first.result.messages));
  const { names } = await run([reply("done")], { contextWindow: 50_000, messages });
  assertEquals(names[0]?.includes("mcp__mock__create_release"), true);
});

Deno.test("tool search: a word that few tools have counts more than one that most have", async () => {
  const names = ["press", ...Array.from({ length: 12 }, (_, index) => `tab_${index + 10}`)];
  const tools = names.map((name) => ({
    name,
    description: name === "press" ? "Clicks a button." : "Moves a tab in the browser on the page.",
    inputSchema: { type: "object" },
  }));
  await using mcp = await connectMock(new MockServer({ tools }));
  const query = "click on a button in the browser";
  const agent = new Agent({
    model: "a/b",
    streamFn: scriptedStream([reply([toolCall("mcp_search_tools", { query })]), reply("done")]),
  });
  mcp.attach(agent);
  const { messages } = await agent.prompt("Go");
  const result = messages.find(({ role }) => role === "tool_result");
  const found = result?.role === "tool_result" && result.details;
  const expected = names.slice(0, 10).map((name) => `mcp__mock__${name}`);
  assertEquals(found, { tools: expected });
});

Deno.test("tool search: words that match nothing are reported", async () => {
  const { result } = await run([
    reply([toolCall("mcp_search_tools", { query: "weather" })]),
    reply("done"),
  ], { contextWindow: 50_000 });
  const [message] = result.messages.filter(({ role }) => role === "tool_result");
  assert(message?.role === "tool_result");
  assertEquals(getText(message), "No tool found. Search with other words.");
});

Deno.test("tool search: a tool that alone exceeds a tenth of the window can be called when it was found", async () => {
  const { names } = await run([
    reply([toolCall("mcp_search_tools", { query: "create an issue" })]),
    reply("done"),
  ], { contextWindow: 4_000 });
  assertEquals(names[1], ["mcp_search_tools", "mcp__mock__create_issue"]);
});

/** A model with a window that the tools of the server exceed. */
const smallStream = (steps: readonly ScriptedStep[]) =>
  scriptedStream(steps, { contextWindow: () => 50_000 });

const readResults = (messages: readonly AgentMessage[]) =>
  messages.flatMap((message) =>
    message.role === "tool_result" ? [getText({ content: message.content })] : []
  );

Deno.test("tool search: an agent below the run finds the tools that it has, and calls them", async () => {
  const server = new MockServer({
    tools: TOOLS,
    handlers: {
      "tools/call": ({ params }) => ({ content: [{ type: "text", text: params.name }] }),
    },
  });
  await using mcp = await connectMock(server);
  const names = TOOLS.map(({ name }) => `mcp__mock__${name}`).filter((name) =>
    !name.includes("delete")
  );
  const streamFn = smallStream([
    reply([toolCall("child", { prompt: "Go" })]),
    reply([toolCall("mcp_search_tools", { query: "issue" })]),
    reply([toolCall("mcp__mock__create_issue", {}), toolCall("mcp__mock__delete_issue", {})]),
    reply("Child done"),
    reply("Done"),
  ]);
  const results: string[] = [];
  const agent = new Agent({
    model: "a/b",
    streamFn,
    policies: [mcp.policy],
    tools: [subAgentTool({
      name: "child",
      description: "",
      tools: ["mcp_search_tools", ...names],
    })],
  });
  agent.subscribe((event) => {
    if (event.type !== "sub_agent" || event.event.type !== "tool_execution_end") return;
    results.push(getText(event.event.result));
  });
  mcp.attach(agent);
  await agent.prompt("Go");
  assertEquals(streamFn.calls[1]?.context.tools.map(({ name }) => name), ["mcp_search_tools"]);
  const [found = "", ...called] = results;
  assertStringIncludes(found, "mcp__mock__create_issue");
  assertEquals(found.includes("mcp__mock__delete_issue"), false);
  assert(called.includes("create_issue"));
  assertStringIncludes(called.join(" "), 'Tool "mcp__mock__delete_issue" not found');
});

Deno.test("tool search: in plan mode only tools that change nothing are found", async () => {
  const server = new MockServer({ tools: TOOLS });
  await using mcp = await connectMock(server, { servers: { mock: { readOnly: ["list_*"] } } });
  const mode = createPlanMode();
  const agent = new Agent({
    model: "a/b",
    streamFn: smallStream([
      reply([toolCall("mcp_search_tools", { query: "issue" })]),
      reply("Done"),
    ]),
    policies: [mode, mcp.policy],
  });
  mcp.attach(agent);
  mode.turnOn(agent);
  const { messages } = await agent.prompt("Go");
  const [found = ""] = readResults(messages);
  assert(/^- (\S+): /m.exec(found)?.[1] === "mcp__mock__list_issue", found);
  assertEquals(found.match(/^- /gm)?.length, 1);
});

Deno.test("tool search: a second connection neither hides the search of the first nor needs one", async () => {
  await using first = await connectMock(new MockServer({ tools: TOOLS }));
  const config = { mcpServers: { other: { command: "other-program" } } };
  for (const tools of [TOOLS.slice(0, 1), TOOLS]) {
    await using second = await connectMcp(config, {
      sandbox: new MockServer({ tools }),
      clientPackage,
    });
    const streamFn = smallStream([reply("Done")]);
    const policies = [first.policy, second.policy];
    const agent = new Agent({ model: "a/b", streamFn, policies });
    first.attach(agent);
    second.attach(agent);
    await agent.prompt("Go");
    assertEquals(streamFn.calls[0]?.context.tools.map(({ name }) => name), [
      "mcp_search_tools",
      ...second.servers[0]?.tools ?? [],
    ]);
  }
});
