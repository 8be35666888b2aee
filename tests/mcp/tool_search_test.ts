import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Agent, type AgentMessage } from "../../mod.ts";
import { estimateToolTokens } from "../../src/core/tokens.ts";
import { reply, type ScriptedStep, scriptedStream, toolCall } from "../../src/testing/mod.ts";
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
