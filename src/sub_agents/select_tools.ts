/**
 * Selects the tools of a sub-agent from those of the run that starts it.
 *
 * @module
 */

import type { AgentTool } from "../core/tools/tool.ts";

/** A tool, or the name of one. */
export type ToolSelector = AgentTool<never> | string;

/** The tools of a sub-agent. */
export interface SelectedTools {
  /** The tools that it gets. */
  readonly tools: readonly AgentTool[];
  /** Names of the tools that the run does not have. */
  readonly missing: readonly string[];
}

/** The depth at which the tools that start sub-agents end, by tool. */
export const maxDepths: WeakMap<AgentTool<never>, number> = new WeakMap();

/**
 * Returns the tools of the run that are wanted, by default all. A tool with the name of one of the run's that is another
 * object is missing, since it may do more. Tools that could not start a sub-agent any more are left out.
 */
export function selectTools(
  available: readonly AgentTool[],
  { wanted, depth, readOnly }: {
    readonly wanted: readonly ToolSelector[] | undefined;
    /** Depth of the sub-agent. */
    readonly depth: number;
    readonly readOnly: boolean;
  },
): SelectedTools {
  const isWanted = (tool: AgentTool): boolean =>
    wanted === undefined || wanted.some((selector) => matches(tool, selector));
  const isUsable = (tool: AgentTool): boolean =>
    (!readOnly || tool.readOnly === true) && depth < (maxDepths.get(tool) ?? Infinity);
  const missing = (wanted ?? []).filter((selector) =>
    !available.some((tool) => matches(tool, selector))
  );
  return {
    tools: available.filter((tool) => isWanted(tool) && isUsable(tool)),
    missing: missing.map((selector) => typeof selector === "string" ? selector : selector.name),
  };
}

function matches(tool: AgentTool, selector: ToolSelector): boolean {
  return typeof selector === "string" ? tool.name === selector : tool === selector;
}
