import { assertEquals, assertThrows } from "@std/assert";
import { parseConfig } from "./parse_config.ts";

function parse(server: unknown) {
  return parseConfig({ mcpServers: { one: server } }).get("one");
}

Deno.test("parseConfig(): fills in what a server does not name", () => {
  assertEquals(parse({ command: "npx" }), {
    type: "stdio",
    command: "npx",
    args: [],
    env: {},
    cwd: undefined,
    timeoutMs: 300_000,
  });
  assertEquals(parse({ url: "https://a.example/mcp", timeout: 1_000 }), {
    type: "http",
    url: "https://a.example/mcp",
    headers: {},
    timeoutMs: 1_000,
  });
});

Deno.test("parseConfig(): accepts both names of HTTP, and ignores unknown properties", () => {
  for (const type of ["http", "streamable-http"]) {
    assertEquals(parse({ type, url: "https://a.example", disabled: false })?.type, "http");
  }
});

Deno.test("parseConfig(): leaves out servers that are disabled", () => {
  const mcpServers = { off: { command: "a", disabled: true }, on: { command: "b" } };
  assertEquals([...parseConfig({ mcpServers }).keys()], ["on"]);
});

Deno.test("parseConfig(): an error names the key, and quotes no texts", () => {
  const cases: [server: unknown, message: string][] = [
    [5, "mcpServers.one: must be an object, not 5"],
    [{}, "mcpServers.one.command: must be a text, not undefined"],
    [{ command: "" }, "mcpServers.one.command: must be a text, not another text"],
    [
      { command: "x", args: "secret" },
      "mcpServers.one.args: must be a list of texts, not another text",
    ],
    [{ command: "x", args: [1] }, "mcpServers.one.args: must be a list of texts, not an array"],
    [
      { command: "x", env: { A: 1 } },
      "mcpServers.one.env: must be an object with texts, not an object",
    ],
    [{ command: "x", cwd: 1 }, "mcpServers.one.cwd: must be a text, not 1"],
    [
      { command: "x", timeout: 0 },
      "mcpServers.one.timeout: must be a number of milliseconds above 0, not 0",
    ],
    [{ type: "http" }, "mcpServers.one.url: must be a text, not undefined"],
    [{ type: "htp", url: "x" }, 'mcpServers.one.type: must be "stdio" or "http", not another text'],
  ];
  for (const [server, message] of cases) assertThrows(() => parse(server), Error, message);
  assertThrows(() => parseConfig({}), Error, "mcpServers: must be an object, not undefined");
  assertThrows(() => parseConfig(null), Error, "The configuration must be an object, not null");
});

Deno.test("parseConfig(): names of servers may be those of properties of objects", () => {
  const config = JSON.parse(
    '{"mcpServers":{"__proto__":{"command":"a"},"constructor":{"command":"b"}}}',
  );
  assertEquals([...parseConfig(config).keys()], ["__proto__", "constructor"]);
});
