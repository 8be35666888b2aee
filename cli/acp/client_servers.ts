/**
 * The MCP servers that an editor names.
 *
 * @module
 */

import type { McpConfig } from "../../src/mcp/mod.ts";
import type { AcpMcpServer } from "../../src/protocols/acp/mod.ts";
import { UsageError } from "../host/cli_error.ts";

/**
 * Returns the configuration of servers; `undefined` if there are none.
 *
 * @throws {UsageError} If the transport of one is not supported, or two have the same name.
 */
export function toServerConfig(servers: readonly AcpMcpServer[]): McpConfig | undefined {
  if (servers.length === 0) return undefined;
  checkServerNames(servers);
  return {
    mcpServers: Object.fromEntries(servers.map((server) => [server.name, toServer(server)])),
  };
}

/** Checks that no server replaces another one. */
function checkServerNames(servers: readonly AcpMcpServer[]): void {
  const names = servers.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated === undefined) return;
  throw new UsageError(`Two MCP servers have the name ${repeated}`, "Rename one in the editor.");
}

function toServer(server: AcpMcpServer): McpConfig["mcpServers"][string] {
  const { type, command, args, env, url, headers } = server;
  if (type === undefined || type === "stdio") {
    return { command: toText(command), args: toTexts(args), env: toRecord(env) };
  }
  if (type === "http") return { type, url: toText(url), headers: toRecord(headers) };
  throw new UsageError(
    `The MCP server ${server.name} has the transport ${String(type)}, which is not supported`,
    "Use stdio or http.",
  );
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Returns a record for a list of names and values. */
function toRecord(value: unknown): Record<string, string> {
  if (!Array.isArray(value)) return {};
  return Object.fromEntries(
    value.filter((item) => typeof item?.name === "string" && typeof item.value === "string")
      .map(({ name, value }) => [name, value]),
  );
}
