/**
 * The MCP servers of a run.
 *
 * @module
 */

import type { AgentTool } from "../../mod.ts";
import { connectMcp, type McpConnection, type McpOptions } from "../../src/mcp/mod.ts";
import type { Host } from "../host/host.ts";
import { VERSION } from "../host/version.ts";
import { readServers, type ServerSources } from "./server_files.ts";

/** Options for `connectServers()`. */
export interface ServerOptions extends ServerSources {
  /** Starts the programs of servers. */
  readonly sandbox: NonNullable<McpOptions["sandbox"]>;
}

/** The connected servers. */
export interface ConnectedServers extends AsyncDisposable {
  /** The connection. */
  readonly connection: McpConnection;
  /** The tools at the start of the run. */
  readonly tools: readonly AgentTool[];
  /** Problems of servers, as sentences without a full stop. */
  readonly warnings: readonly string[];
}

/**
 * Connects to the configured servers; `undefined` if there are none. A server that does not start is a warning.
 *
 * @throws {ConfigurationError} If a file is invalid.
 */
export async function connectServers(
  { sandbox, ...sources }: ServerOptions,
  { env, fetch }: Pick<Host, "env" | "fetch">,
): Promise<ConnectedServers | undefined> {
  const { config, environment, problems } = await readServers(sources, env);
  if (Object.keys(config.mcpServers ?? {}).length + problems.length === 0) return undefined;
  const warnings = [...problems];
  const connection = await connectMcp(config, {
    sandbox,
    environment,
    fetch,
    clientInfo: { name: "swink", version: VERSION },
    onWarning: ({ server, message }) => warnings.push(`MCP server ${server}: ${message}`),
  });
  for (const { name, state } of connection.servers) {
    if (state.type === "ready") continue;
    const reason = "reason" in state ? state.reason : "it has not started yet";
    warnings.push(`MCP server ${name}: ${reason}`);
  }
  return {
    connection,
    tools: connection.tools,
    warnings,
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
