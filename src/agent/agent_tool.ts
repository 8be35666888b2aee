/**
 * An agent as a tool of another agent.
 *
 * @module
 */

import type { RunHandle } from "../core/run_handle.ts";
import type { AgentTool, ToolContext } from "../core/tool.ts";
import { defineTool } from "../core/tool.ts";
import type { PromptableAgent } from "./run_sub_agent.ts";

/** Options for `Agent.asTool()`: those of a tool, apart from what the agent itself determines. */
export interface AgentToolOptions
  extends Omit<AgentTool, "parameters" | "validate" | "execute" | "countedBy"> {
  /** Name by which the model calls it. */
  readonly name: string;
  /** Description for the model: what the agent can do, and what its prompt must contain. */
  readonly description: string;
}

/** Creates a tool that runs a new agent for every call, with the prompt that the model passes. */
export function createAgentTool(
  createAgent: (parent: RunHandle) => PromptableAgent,
  options: AgentToolOptions,
): AgentTool {
  return defineTool({
    ...options,
    countedBy: "all",
    parameters: {
      type: "object",
      properties: {
        prompt: { type: "string", description: "The task, with all that is needed to do it." },
      },
      required: ["prompt"],
      additionalProperties: false,
    },
    execute: async ({ prompt }, context: ToolContext) => {
      const { runAgentTool } = await import("./run_code.ts");
      return await runAgentTool(createAgent(context.run), { name: options.name, prompt }, context);
    },
  });
}
