/**
 * Tools without those that others replace.
 *
 * @module
 */

import type { AgentTool } from "../core/tool.ts";

/** Returns the tools without those that have the name of one of the others. */
export function omitNames(
  tools: readonly AgentTool[],
  others: readonly AgentTool[],
): readonly AgentTool[] {
  const names = new Set(others.map(({ name }) => name));
  return tools.filter(({ name }) => !names.has(name));
}
