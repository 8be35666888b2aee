/**
 * Calls of servers' tools in tests.
 *
 * @module
 */

import { toToolResult } from "../../src/core/messages/to_tool_result.ts";
import type { AgentToolResult } from "../../src/core/messages/tool_result.ts";
import type { ToolContext } from "../../src/core/tools/tool.ts";
import type { McpConnection } from "../../src/mcp/mod.ts";
import { testToolContext } from "../../src/testing/test_tool_context.ts";

/** Calls a tool of the server `mock` by the server's name of it. */
export async function callTool(
  mcp: McpConnection,
  { name = "echo", args = { text: "hello" }, context = {} }: {
    readonly name?: string;
    readonly args?: Readonly<Record<string, unknown>>;
    readonly context?: Partial<ToolContext<undefined>>;
  } = {},
): Promise<AgentToolResult> {
  const tool = mcp.tools.find((tool) => tool.name === `mcp__mock__${name}`);
  if (!tool) throw new Error(`There is no tool ${name}: ${mcp.tools.map(({ name }) => name)}`);
  return toToolResult(await tool.execute(args, testToolContext(context)));
}

/** Returns the texts of a result, joined. */
export function getText({ content }: AgentToolResult): string {
  return content.map((block) => block.type === "text" ? block.text : `<${block.type}>`).join("\n");
}
