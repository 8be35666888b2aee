/**
 * Connects to servers.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { resolvePorts } from "../core/ports/ports.ts";
import type { McpConfig } from "./config/mcp_config.ts";
import type { McpOptions, McpServerOptions } from "./config/options.ts";
import { parseConfig } from "./config/parse_config.ts";
import type { McpConnection } from "./connection.ts";
import { ServerGroup } from "./server_group.ts";

/** Default of {@linkcode McpOptions.waitMs}. */
const WAIT_MS = 5_000;

/**
 * Starts the servers of a configuration and connects to them. Resolves when all of them have started or failed, after at
 * most `waitMs`: a server that fails or hangs delays nothing else, and its state has the reason.
 *
 * Rejects with a `BadRequestError` if the configuration or an option is invalid. A variable that is not set only makes its
 * server fail.
 *
 * @example
 * ```ts ignore
 * import { Agent } from "@swink/agent";
 * import { connectMcp, readMcpConfig } from "@swink/agent/mcp";
 * import { createSandbox } from "@swink/agent/tools";
 *
 * await using sandbox = createSandbox();
 * await using mcp = await connectMcp(await readMcpConfig(".mcp.json"), {
 *   sandbox,
 *   environment: { PATH: Deno.env.get("PATH") },
 * });
 * const agent = new Agent({ model: "anthropic/claude-sonnet-5-5", policies: [mcp.policy] });
 * mcp.attach(agent);
 * ```
 */
export async function connectMcp(
  config: McpConfig,
  options: McpOptions = {},
): Promise<McpConnection> {
  const servers = parseConfig(config);
  checkOptions(options, Object.keys(config.mcpServers));
  const group = new ServerGroup(servers, options);
  const timer = new AbortController();
  const { sleep } = resolvePorts(options);
  await Promise.race([group.start(), sleep(options.waitMs ?? WAIT_MS, timer.signal)]);
  timer.abort();
  return group;
}

const OPTION_NAMES = [
  "environment",
  "sandbox",
  "servers",
  "onElicitation",
  "onStatus",
  "onWarning",
  "waitMs",
  "startTimeoutMs",
  "maxMessageBytes",
  "clientInfo",
  "clientPackage",
  "fetch",
  "now",
  "sleep",
] as const satisfies readonly (keyof McpOptions)[];

const SERVER_OPTION_NAMES = [
  "allow",
  "deny",
  "readOnly",
  "sandbox",
  "oauth",
] as const satisfies readonly (keyof McpServerOptions)[];

/** A misspelled `deny` would offer more tools than intended. */
function checkOptions(options: McpOptions, names: readonly string[]): void {
  checkNames(options, OPTION_NAMES, "connectMcp()");
  for (const [name, server] of Object.entries(options.servers ?? {})) {
    if (!names.includes(name)) {
      throw new BadRequestError(
        `There are options for the server "${name}", but the configuration has only: ${
          names.join(", ") || "none"
        }`,
      );
    }
    checkNames(server, SERVER_OPTION_NAMES, `the server "${name}"`);
  }
}
