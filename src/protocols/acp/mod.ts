/**
 * Agents for editors and other clients of the Agent Client Protocol.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { serveAcp } from "@swink/agent/acp";
 *
 * // Serves the editor that has started this program, until it closes the input.
 * async function main(): Promise<void> {
 *   await serveAcp({
 *     name: "helper",
 *     version: "1.0.0",
 *     createSession: ({ client }) => Promise.resolve({
 *       id: crypto.randomUUID(),
 *       agent: new Agent({ model: "anthropic/claude-sonnet-5-5", approve: client.ask }),
 *     }),
 *   }, { input: Deno.stdin.readable, output: Deno.stdout.writable });
 * }
 * ```
 *
 * @module
 */

export type {
  AcpAuthMethod,
  AcpClient,
  AcpCommandResult,
  AcpHost,
  AcpPromptOptions,
  AcpQuestion,
  AcpSession,
  AcpSessionInfo,
  AcpSessionRequest,
} from "./acp_host.ts";
export type {
  AcpTerminal,
  AcpTerminalExit,
  AcpTerminalOptions,
  AcpTerminalOutput,
} from "./acp_terminal.ts";
export type {
  AcpCommand,
  AcpConfigOption,
  AcpContent,
  AcpLocation,
  AcpMcpServer,
  AcpMode,
  AcpToolCallFields,
  AcpToolContent,
  AcpToolKind,
} from "./acp_update.ts";
export type { DescribeCall, DescribedCall } from "./describe_call.ts";
export type { AcpPackage, AcpRouter, AcpV2Package } from "./sdk_package.ts";
export { serveAcp, type ServeAcpOptions } from "./serve_acp.ts";
export { terminalTool, type TerminalToolOptions } from "./terminal_tool.ts";
