import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../host/cli_error.ts";
import { toServerConfig } from "./client_servers.ts";

Deno.test("toServerConfig(): converts programs and endpoints", () => {
  assertEquals(toServerConfig([]), undefined);
  const config = toServerConfig([
    { name: "a", command: "node", args: ["a.js"], env: [{ name: "K", value: "v" }] },
    { name: "b", type: "http", url: "https://b.test/", headers: [{ name: "X", value: "1" }] },
    { name: "c", command: "c" },
  ]);
  assertEquals(config, {
    mcpServers: {
      a: { command: "node", args: ["a.js"], env: { K: "v" } },
      b: { type: "http", url: "https://b.test/", headers: { X: "1" } },
      c: { command: "c", args: [], env: {} },
    },
  });
});

Deno.test("toServerConfig(): refuses other transports, and drops what has no name and value", () => {
  const old = { name: "old", type: "sse", url: "https://old.test/" };
  assertThrows(() => toServerConfig([old]), UsageError, "The MCP server old has the transport sse");
  const odd = { name: "odd", command: "x", args: [1, "y"], env: [null, { name: 1, value: 2 }, 3] };
  assertEquals(toServerConfig([odd])?.mcpServers, {
    odd: { command: "x", args: ["y"], env: {} },
  });
});

Deno.test("toServerConfig(): refuses two servers of one name", () => {
  const servers = [{ name: "a", command: "x" }, { name: "a", command: "y" }];
  assertThrows(() => toServerConfig(servers), UsageError, "Two MCP servers have the name a");
});
