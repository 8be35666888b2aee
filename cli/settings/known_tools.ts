/**
 * The names of the tools that runs may have.
 *
 * @module
 */

import { hasAlias } from "../../src/tools/kit/tool_names.ts";

/** Tools that no other agent has. */
const OWN_TOOLS: readonly string[] = ["skill", "write_plan", "update_step", "structured_output"];

/** Whether a run may have a tool of this name. The tools of servers are known only while they run. */
export function isKnownTool(name: string): boolean {
  return hasAlias(name) || OWN_TOOLS.includes(name) || name.startsWith("mcp__");
}
