/**
 * Binds the tools of a sub-agent to the directory of its worktree.
 *
 * @module
 */

import type { AgentTool } from "../core/tools/tool.ts";

/**
 * Returns the tools that are bound to a directory, for those that the sub-agent may have: a tool that is not among these
 * is left out, and so is one of these without a bound one, which would work elsewhere. What decides about rights is that
 * of the tool of the run.
 */
export function bindTools(
  allowed: readonly AgentTool[],
  bound: readonly AgentTool[],
): readonly AgentTool[] {
  return allowed.flatMap((tool) => {
    const own = bound.find(({ name }) => name === tool.name);
    if (!own || own === tool) return own ? [own] : [];
    const { readOnly, requiresApproval, risk, sideEffect, countedBy } = tool;
    const execute: AgentTool["execute"] = (args, context) => own.execute(args, context);
    return [{ ...own, readOnly, requiresApproval, risk, sideEffect, countedBy, execute }];
  });
}
