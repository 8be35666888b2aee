/**
 * Servers of the Model Context Protocol: their tools as tools of an agent, their prompts and their resources.
 *
 * Loads the npm package `@modelcontextprotocol/client` on first use.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { connectMcp, readMcpConfig } from "@swink/agent/mcp";
 * import { createSandbox } from "@swink/agent/tools";
 *
 * async function ask(prompt: string): Promise<string> {
 *   await using sandbox = createSandbox();
 *   await using mcp = await connectMcp(await readMcpConfig(".mcp.json"), { sandbox });
 *   const agent = new Agent({ model: "anthropic/claude-sonnet-5-5", policies: [mcp.policy] });
 *   mcp.attach(agent);
 *   return (await agent.prompt(prompt)).text;
 * }
 * ```
 *
 * @module
 */

export type {
  ProcessLaunch,
  ProcessSpawner,
  ProcessStatus,
  SpawnedProcess,
} from "../core/ports/process_spawner.ts";
export type {
  McpConfig,
  McpHttpServerConfig,
  McpServerConfig,
  McpStdioServerConfig,
} from "./config/mcp_config.ts";
export type {
  McpElicit,
  McpElicitation,
  McpElicitationAnswer,
  McpOAuth,
  McpOptions,
  McpSandbox,
  McpServerOptions,
} from "./config/options.ts";
export { readMcpConfig } from "./config/read_mcp_config.ts";
export type { McpServerState, McpServerStatus, McpWarning } from "./config/status.ts";
export { connectMcp } from "./connect_mcp.ts";
export type {
  McpConnection,
  McpPrompt,
  McpPromptArgument,
  McpPromptRequest,
  McpPromptResult,
  McpRequestOptions,
  McpResource,
  McpResourceRequest,
  McpResourceTemplate,
  McpToolSelection,
} from "./connection.ts";
export type { McpClientPackage } from "./protocol/client_package.ts";
export { expandUriTemplate } from "./protocol/expand_uri_template.ts";
