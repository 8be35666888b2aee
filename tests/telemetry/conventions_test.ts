/**
 * The spans of runs, attribute by attribute, against the conventions.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { Agent, type AgentOptions, type AgentTool } from "../../mod.ts";
import { InMemorySessionStore, openSession } from "../../src/memory/mod.ts";
import { telemetry } from "../../src/telemetry/mod.ts";
import { fail, fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { HttpServer } from "../mcp/http_server.ts";
import { connectMock, MockServer } from "../mcp/mock_server.ts";
import { FakeTracing } from "../protocols/fake_tracing.ts";
import { type ConventionAttribute, CONVENTIONS } from "./conventions.ts";

type Attributes = Readonly<Record<string, unknown>>;

interface TestSpan {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Attributes;
}

/** Runs an agent whose spans have all attributes; returns the spans. */
async function traceRun(
  options: Omit<AgentOptions, "model">,
  { content = false }: { readonly content?: boolean } = {},
): Promise<TestSpan[]> {
  const agent = new Agent({
    model: "anthropic/claude:high",
    streamOptions: {
      maxTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      stop: ["END"],
      seed: 7,
      responseSchema: { type: "object" },
    },
    systemPrompt: "Be brief",
    transformContext: (messages) => ({
      messages,
      report: { droppedCount: 1, tokensBefore: 2, tokensAfter: 1 },
    }),
    retry: () => null,
    ...options,
  });
  const tracing = new FakeTracing();
  const { observe } = await telemetry({
    api: tracing.api,
    content,
    agentName: "helper",
    agentDescription: "Helps",
    agentVersion: "1.2.0",
  });
  observe(agent);
  await using _session = await openSession(new InMemorySessionStore(), {}, agent);
  await agent.prompt("Hello");
  return tracing.spans as TestSpan[];
}

const usage = {
  input: 10,
  output: 5,
  cacheRead: 100,
  cacheWrite: 20,
  total: 135,
  extra: { reasoning: 2 },
};

/** Runs that together have every attribute: one that succeeds and one that fails. */
async function traceRuns(content: boolean): Promise<TestSpan[]> {
  const tools = [fakeTool({ name: "weather" }), fakeTool({ name: "broken", result: new Error() })];
  const calls = () => [toolCall("weather", { city: "Bern" }), toolCall("broken")];
  const succeeding = scriptedStream([
    reply(calls(), { usage, responseId: "r-1" }),
    reply("Sunny", { usage, responseId: "r-2" }),
  ]);
  const failing = scriptedStream([fail("auth_error", "no key")]);
  return [
    ...await traceRun({ streamFn: succeeding, tools }, { content }),
    ...await traceRun({ streamFn: failing }, { content }),
  ];
}

function select(spans: readonly TestSpan[], operation: string): Attributes[] {
  return spans.map(({ attributes }) => attributes)
    .filter((attributes) => attributes["gen_ai.operation.name"] === operation);
}

function getType(value: unknown): string {
  return Array.isArray(value) && value.every((item) => typeof item === "string")
    ? "texts"
    : typeof value;
}

/** Compares all values of an attribute with the convention. */
function checkAttribute(
  { name, level, type, unset }: ConventionAttribute,
  spans: readonly Attributes[],
  { content }: { readonly content: boolean },
): void {
  const values = spans.map((attributes) => attributes[name]);
  const set = values.filter((value) => value !== undefined);
  if (unset !== undefined || (level === "opt_in" && !content)) {
    assertEquals([name, ...set], [name]);
    return;
  }
  assert(set.length > 0, `${name} is not set`);
  if (level === "required") assertEquals([name, set.length], [name, values.length]);
  for (const value of set) assertEquals([name, getType(value)], [name, type]);
}

/** Checks that a span has no attributes of the conventions that they do not define for it. */
function checkNames(
  spans: readonly Attributes[],
  ...conventions: readonly (readonly ConventionAttribute[])[]
): void {
  const known = new Set(conventions.flat().map(({ name }) => name));
  const used = spans.flatMap((attributes) => Object.keys(attributes));
  const unknown = used.filter((name) => !name.startsWith("swink.") && !known.has(name));
  assertEquals(unknown, []);
}

for (const content of [false, true]) {
  for (const operation of ["chat", "invoke_agent", "execute_tool"] as const) {
    Deno.test(`conventions: ${operation} has its attributes${content ? ", with content" : ""}`, async () => {
      const spans = select(await traceRuns(content), operation);
      assert(spans.length > 1);
      for (const attribute of CONVENTIONS[operation]) checkAttribute(attribute, spans, { content });
      checkNames(spans, CONVENTIONS[operation]);
    });
  }
}

Deno.test("conventions: names and kinds of spans", async () => {
  const spans = await traceRuns(false);
  const names = new Set(spans.map(({ name, kind }) => `${name} ${kind}`));
  assertEquals([...names], [
    "invoke_agent helper 0",
    "chat claude 2",
    "execute_tool weather 0",
    "execute_tool broken 0",
  ]);
});

/** Returns the attributes of a call of a tool of a server. */
async function traceTool(tools: readonly AgentTool[]): Promise<Attributes[]> {
  const tool = tools.find(({ name }) => name !== "mcp_search_tools");
  const streamFn = scriptedStream([
    reply([toolCall(tool?.name ?? "", { text: "hi" })]),
    reply("Done"),
  ]);
  return select(await traceRun({ streamFn, tools, approvalMode: "bypassed" }), "execute_tool");
}

Deno.test("conventions: calls of MCP servers have the attributes of MCP", async () => {
  await using http = await new HttpServer();
  await using overHttp = await http.connect();
  const spans = await traceTool(overHttp.tools);
  for (const attribute of CONVENTIONS.mcp) checkAttribute(attribute, spans, { content: false });
  checkNames(spans, CONVENTIONS.mcp, CONVENTIONS.execute_tool);
  const { port } = new URL(http.url);
  assertEquals([spans[0]?.["server.address"], spans[0]?.["server.port"]], [
    "127.0.0.1",
    Number(port),
  ]);
  assertEquals(spans[0]?.["mcp.session.id"], "session 1");

  await using overPipe = await connectMock(new MockServer());
  const [call] = await traceTool(overPipe.tools);
  assertEquals(call?.["network.transport"], "pipe");
  assertEquals(call?.["mcp.method.name"], "tools/call");
  assertEquals(call?.["server.address"], undefined);
});

Deno.test("conventions: attributes of a tool that cannot be read do not end the run", async () => {
  const traceAttributes = () => {
    throw new Error("no");
  };
  const spans = await traceTool([{ ...fakeTool({ name: "odd" }), traceAttributes }]);
  assertEquals(spans[0]?.["gen_ai.tool.name"], "odd");
});
