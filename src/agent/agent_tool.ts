/**
 * An agent as a tool of another agent.
 *
 * @module
 */

import type { AgentTool, ToolContext } from "../core/tools/tool.ts";
import { defineTool } from "../core/tools/tool.ts";
import type { AgentToolSettings } from "./run_agent_tool.ts";

/** Options for `Agent.asTool()`: those of a tool, apart from what the agent itself determines. */
export interface AgentToolOptions
  extends Omit<AgentTool, "parameters" | "validate" | "execute" | "countedBy"> {
  /** Name by which the model calls it. */
  readonly name: string;
  /** Description for the model: what the agent can do, and what its prompt must contain. */
  readonly description: string;
}

/** The options of the tool, and those that its agents need. */
interface CreateAgentToolOptions
  extends AgentToolOptions, Pick<AgentToolSettings, "model" | "transform"> {}

/** Creates a tool that runs a new agent with a model for every call, with the prompt that the model passes. */
export function createAgentTool(
  createAgent: AgentToolSettings["createAgent"],
  { model, transform, ...options }: CreateAgentToolOptions,
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
      const call = { name: options.name, prompt };
      return await runAgentTool({ createAgent, model, transform }, call, context);
    },
  });
}
