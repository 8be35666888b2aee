/**
 * The tools of an agent outside of a request.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { internalsByAgent } from "../../agent/options.ts";
import { getResumedTools } from "../../core/hooks/resumed_tools.ts";
import type { AgentTool } from "../../core/tools/tool.ts";

/** Returns the tools of an agent, with those that its policies add to requests. */
export function listAgentTools(agent: Agent): readonly AgentTool[] {
  const { runId, tools } = agent.state;
  return getResumedTools(internalsByAgent.get(agent)?.options.policies ?? [], { runId, tools });
}

/** Returns the tool of an agent with a name, also one that its policies add to requests; `undefined` if there is none. */
export function findAgentTool(agent: Agent, name: string): AgentTool | undefined {
  return listAgentTools(agent).find((tool) => tool.name === name);
}
