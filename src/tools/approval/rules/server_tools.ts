/**
 * The definitions of the tools of servers, which may change after a person has trusted a tool.
 *
 * @module
 */

import type { AgentTool } from "../../../core/tools/tool.ts";

/**
 * Returns the definition of a tool of a server, which the server may replace by that of another tool after a person has
 * trusted it; an empty text for a tool of the program.
 */
export function defineServerTool({ name, description, parameters }: AgentTool): string {
  return name.startsWith("mcp__") ? JSON.stringify([description, parameters]) : "";
}

/** Whether a server has changed a tool since a person trusted it. */
export function isRedefined(definitions: ReadonlyMap<string, string>, tool: AgentTool): boolean {
  const trusted = definitions.get(tool.name);
  return trusted !== undefined && trusted !== defineServerTool(tool);
}
