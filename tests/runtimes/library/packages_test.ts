/**
 * The modules that load npm packages: MCP servers, sessions in Postgres, evaluations in YAML.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../../mod.ts";
import { SessionError } from "../../../src/core/errors/errors.ts";
import { loadEvalSet } from "../../../src/eval/mod.ts";
import { connectMcp } from "../../../src/mcp/mod.ts";
import { PostgresSessionStore } from "../../../src/memory/postgres/mod.ts";
import { reply, scriptedStream, toolCall } from "../../../src/testing/mod.ts";
import { withDirectory } from "./temporary_directory.ts";

const RESULTS: Readonly<Record<string, object>> = {
  "initialize": {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "weather", version: "1.0.0" },
  },
  "tools/list": { tools: [{ name: "forecast", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "Sunny" }] },
};

/** A server of the Model Context Protocol over HTTP. */
const fetchServer: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const { id, method } = await request.json();
  if (id === undefined) return new Response(null, { status: 202 });
  const result = RESULTS[method];
  const error = { code: -32601, message: "Method not found" };
  return Response.json({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) });
};

Deno.test("library: an agent calls the tool of an MCP server", async () => {
  const config = { mcpServers: { weather: { url: "https://weather.example/mcp" } } };
  await using mcp = await connectMcp(config, { fetch: fetchServer });
  const agent = new Agent({
    model: "test/model",
    policies: [mcp.policy],
    streamFn: scriptedStream([reply([toolCall("mcp__weather__forecast")]), reply("Sunny.")]),
  });
  mcp.attach(agent);
  const { messages } = await agent.prompt("How is the weather?");
  const results = messages.flatMap((message) =>
    message.role === "tool_result" ? [message.content, message.isError] : []
  );
  assertEquals(results, [[{ type: "text", text: "Sunny" }], false]);
});

Deno.test("library: sessions in Postgres use the package pg", async () => {
  const connection = "postgres://127.0.0.1:1/app";
  await using store = new PostgresSessionStore({ connection, retryMs: 0 });
  const error = await assertRejects(() => store.list({}), SessionError);
  assertEquals([error.reason, /ECONNREFUSED/.test(error.message + String(error.cause))], [
    "read_failed",
    true,
  ]);
});

Deno.test("library: a set of cases is read from YAML", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/cases.yaml`;
    await Deno.writeTextFile(path, "id: small\ncases:\n  - id: one\n    userMessages: [Hi]\n");
    const { id, cases } = await loadEvalSet(path);
    assertEquals([id, cases.map((evalCase) => evalCase.id)], ["small", ["one"]]);
  }));
