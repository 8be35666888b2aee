/**
 * Marks of tools that a gate can trust, since no option of a tool sets them and no copy of a tool has them.
 *
 * @module
 */

import type { AgentTool } from "../../core/tool.ts";

const hidingTools = new WeakSet<AgentTool<never>>();

/** Marks a tool whose commands cannot read the files with secrets in the directories of its sandbox. */
export function markHidingSecrets<Tool extends AgentTool<never>>(tool: Tool): Tool {
  hidingTools.add(tool);
  return tool;
}

/** Whether the commands of a tool cannot read the files with secrets in the directories of its sandbox. */
export function isHidingSecrets(tool: AgentTool<never>): boolean {
  return hidingTools.has(tool);
}
