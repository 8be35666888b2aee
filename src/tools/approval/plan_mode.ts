/**
 * Selects the tools of an agent that plans changes but cannot make them.
 *
 * @module
 */

import type { AgentTool } from "../../core/tools/tool.ts";

/**
 * Returns the tools with `readOnly: true`. The model is not offered the others.
 *
 * @example
 * ```ts
 * import { codingTools, planMode } from "@swink/agent/tools";
 *
 * planMode(codingTools()).map((tool) => tool.name); // ["read_file", "list_directory", "search_files"]
 * ```
 */
export function planMode<Tool extends AgentTool<never>>(tools: readonly Tool[]): Tool[] {
  return tools.filter((tool) => tool.readOnly === true);
}
