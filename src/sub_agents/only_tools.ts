/**
 * A policy that limits an agent to some tools.
 *
 * @module
 */

import type { Policy } from "../core/policy.ts";
import type { AgentTool } from "../core/tool.ts";

/** Refuses the calls of all other tools, also of those that another policy adds to a request. */
export function onlyTools(tools: readonly AgentTool[]): Policy {
  const allowed = new Set(tools);
  return {
    name: "sub_agent_tools",
    preDispatch({ tool }) {
      if (allowed.has(tool)) return undefined;
      return { type: "skip", reason: "the agent that started this one does not have this tool" };
    },
  };
}
