/**
 * A policy that limits an agent to some tools.
 *
 * @module
 */

import type { Policy } from "../core/hooks/policy.ts";
import { isJsonEqual } from "../core/json/json_equal.ts";
import { isReadingServerTool, type ServerTool } from "../core/streams/server_tool.ts";
import type { AgentTool } from "../core/tools/tool.ts";

/** The tools that an agent may use. */
export interface AllowedTools {
  readonly tools: readonly AgentTool[];
  /** The tools of the provider, with their options. */
  readonly serverTools: readonly ServerTool[];
  /** Whether it may use only tools of the provider that change nothing. */
  readonly readOnly: boolean;
}

/** Refuses the calls of all other tools, also of those that another policy adds to a request. */
export function onlyTools({ tools, serverTools, readOnly }: AllowedTools): Policy {
  const allowed = new Set(tools);
  const isAllowed = (tool: ServerTool): boolean =>
    (!readOnly || isReadingServerTool(tool)) &&
    serverTools.some((other) => isJsonEqual(other, tool));
  return {
    name: "sub_agent_tools",
    canUseTool: (offered) => offered.type === "tool" || isAllowed(offered.tool),
    preDispatch({ tool }) {
      if (allowed.has(tool)) return undefined;
      return { type: "skip", reason: "the agent that started this one does not have this tool" };
    },
  };
}
