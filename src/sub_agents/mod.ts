/**
 * Sub-agents: agents that a tool starts for a part of the task, with the rights of the run that starts them.
 *
 * @module
 */

export { subAgentTool } from "./sub_agent_tool.ts";
export type { SubAgentToolOptions, WorktreeTools } from "./sub_agent_options.ts";
export type {
  Worktree,
  WorktreeCreation,
  WorktreeEnd,
  WorktreeOptions,
  WorktreePort,
} from "../core/worktree_port.ts";
export type { ToolSelector } from "./select_tools.ts";
