/**
 * Plan mode: an agent that can look and cannot act.
 *
 * @module
 */

import type { AgentTool } from "../../core/tool.ts";

/**
 * The tools that change nothing. The others are not refused, they do not exist: a model is never offered them.
 *
 * @example
 * ```ts
 * import { codingTools, planMode } from "@swink/agent/tools";
 *
 * planMode(codingTools()).map((tool) => tool.name); // ["read_file", "list_directory", "search_files"]
 * ```
 */
export function planMode(tools: readonly AgentTool[]): AgentTool[] {
  return tools.filter((tool) => tool.readOnly === true);
}
