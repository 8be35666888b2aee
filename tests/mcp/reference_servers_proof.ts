/**
 * The reference servers of the protocol: all features over the standard streams, in the sandbox, and over HTTP.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { toToolResult } from "../../src/core/messages/to_tool_result.ts";
import type { AgentToolResult, ToolUpdate } from "../../src/core/messages/tool_result.ts";
import { connectMcp, type McpConnection, type McpOptions } from "../../src/mcp/mod.ts";
import { testToolContext } from "../../src/testing/mod.ts";
import { createSandbox } from "../../src/tools/mod.ts";
import { waitUntil } from "../wait_until.ts";
import { getText } from "./call_tool.ts";
import { ReferenceServers } from "./reference_servers.ts";

const servers = await ReferenceServers.install();
Deno.test.afterAll(() => servers?.[Symbol.asyncDispose]());

/** Long enough for a server to start on a busy machine. */
const OPTIONS: McpOptions = {
  waitMs: 60_000,
  environment: { PATH: Deno.env.get("PATH") },
  onWarning: ({ message }) => {
    throw new Error(message);
  },
  onElicitation: () => ({ type: "accepted", content: { name: "Ada" } }),
};

function test(name: string, fn: (servers: ReferenceServers) => Promise<void>): void {
  const ignore = servers === undefined;
  Deno.test({
    name: `reference servers: ${name}`,
    ignore,
    fn: async () => servers && await fn(servers),
  });
}

interface Call {
  readonly args?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly onUpdate?: (update: ToolUpdate) => void;
}

async function call(
  mcp: McpConnection,
  name: string,
  { args = {}, ...context }: Call = {},
): Promise<AgentToolResult> {
  const tool = mcp.tools.find((tool) => tool.name === `mcp__${name}`);
  assert(tool, `${name} is not one of ${mcp.tools.map(({ name }) => name)}`);
  return toToolResult(await tool.execute(args, testToolContext(context)));
}

/** Uses every kind of result of the server that has all features. */
async function checkEverything(mcp: McpConnection): Promise<void> {
  assertEquals(
    getText(await call(mcp, "everything__echo", { args: { message: "hi" } })),
    "Echo: hi",
  );
  const sum = await call(mcp, "everything__get-sum", { args: { a: 2, b: 3 } });
  assertStringIncludes(getText(sum), "5");
  assertStringIncludes(getText(await call(mcp, "everything__get-tiny-image")), "<image>");
  const weather = { args: { location: "New York" } };
  const structured = await call(mcp, "everything__get-structured-content", weather);
  assertEquals(typeof (structured.details as { temperature: unknown }).temperature, "number");
  const links = await call(mcp, "everything__get-resource-links", { args: { count: 2 } });
  assertStringIncludes(getText(links), "[Link to the resource demo://");
  const reference = { args: { resourceType: "Text", resourceId: 1 } };
  const embedded = await call(mcp, "everything__get-resource-reference", reference);
  assertStringIncludes(getText(embedded), "[Resource demo://resource/dynamic/text/1]");
  assertEquals((await call(mcp, "everything__echo")).isError, true);
  const updates: ToolUpdate[] = [];
  await call(mcp, "everything__trigger-long-running-operation", {
    args: { duration: 0.2, steps: 2 },
    onUpdate: (update) => void updates.push(update),
  });
  assertEquals(updates, ["1 of 2", "2 of 2"]);
  assertStringIncludes(getText(await call(mcp, "everything__trigger-elicitation-request")), "Ada");
  const controller = new AbortController();
  const running = call(mcp, "everything__trigger-long-running-operation", {
    args: { duration: 60, steps: 600 },
    signal: controller.signal,
    onUpdate: () => controller.abort("enough"),
  });
  assertEquals(await running.catch((reason) => reason), "enough");
  await checkPromptsAndResources(mcp);
}

async function checkPromptsAndResources(mcp: McpConnection): Promise<void> {
  const prompts = await mcp.listPrompts();
  assert(prompts.some(({ name }) => name === "args-prompt"));
  const prompt = { server: "everything", name: "args-prompt", arguments: { city: "Bern" } };
  assertStringIncludes(JSON.stringify(await mcp.getPrompt(prompt)), "Bern");
  const [resource] = await mcp.listResources();
  assert(resource);
  assert((await mcp.readResource(resource)).length > 1);
}

test("everything over the standard streams, with no variables but the named ones", async (servers) => {
  const { everything } = servers.createConfig("/tmp").mcpServers;
  assert(everything);
  const options = { ...OPTIONS, sandbox: "off" } as const;
  await using mcp = await connectMcp({ mcpServers: { everything } }, options);
  await checkEverything(mcp);
  const text = getText(await call(mcp, "everything__get-env"));
  const names = Object.keys(JSON.parse(text)).filter((name) => name !== "npm_config_user_agent");
  assertEquals(names.includes("PATH"), true);
  assertEquals(names.filter((name) => !["PATH", "HOME"].includes(name)), []);
});

test("filesystem and memory in the sandbox, which they cannot leave", async (servers) => {
  const files = await Deno.makeTempDir({ prefix: "swink_files_" });
  await using sandbox = createSandbox({ cwd: files, readRoots: [servers.directory] });
  {
    const { filesystem, memory } = servers.createConfig(files).mcpServers;
    assert(filesystem && memory);
    const config = { mcpServers: { filesystem, memory } };
    await using mcp = await connectMcp(config, { ...OPTIONS, sandbox });
    assertEquals(mcp.servers.map(({ state }) => state), [{ type: "ready" }, { type: "ready" }]);
    const path = `${files}/a.txt`;
    await call(mcp, "filesystem__write_file", { args: { path, content: "text" } });
    assertEquals(await Deno.readTextFile(path), "text");
    assertEquals(
      getText(await call(mcp, "filesystem__read_text_file", { args: { path } })),
      "text",
    );
    const outside = await call(mcp, "filesystem__read_text_file", {
      args: { path: "/etc/passwd" },
    });
    assertEquals(outside.isError, true);
    const entity = { name: "Ada", entityType: "person", observations: ["writes programs"] };
    await call(mcp, "memory__create_entities", { args: { entities: [entity] } });
    assertStringIncludes(getText(await call(mcp, "memory__read_graph")), "writes programs");
  }
  await Deno.remove(files, { recursive: true });
});

test("a server whose files are outside of its sandbox reports what it cannot write", async (servers) => {
  const outside = await Deno.makeTempDir({ prefix: "swink_outside_" });
  const files = await Deno.makeTempDir({ prefix: "swink_files_" });
  await using sandbox = createSandbox({ cwd: files, readRoots: [servers.directory, outside] });
  if ((await sandbox.describe()).confined) {
    const { filesystem } = servers.createConfig(outside).mcpServers;
    assert(filesystem);
    await using mcp = await connectMcp({ mcpServers: { filesystem } }, { ...OPTIONS, sandbox });
    const args = { path: `${outside}/a.txt`, content: "text" };
    assertEquals((await call(mcp, "filesystem__write_file", { args })).isError, true);
    assertEquals(Array.from(Deno.readDirSync(outside)), []);
  }
  await Deno.remove(files, { recursive: true });
  await Deno.remove(outside, { recursive: true });
});

test("everything over HTTP", async (servers) => {
  const port = getFreePort();
  const child = new Deno.Command(Deno.execPath(), {
    args: [...servers.getArguments("server-everything", "streamableHttp")],
    env: { PORT: `${port}` },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    const url = `http://127.0.0.1:${port}/mcp`;
    await using mcp = await connectMcp({ mcpServers: { everything: { url } } }, OPTIONS);
    // The first attempts fail until the server listens.
    await waitUntil(() => mcp.servers[0]?.state.type === "ready", { timeoutMs: 60_000 });
    await checkEverything(mcp);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
});

function getFreePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
