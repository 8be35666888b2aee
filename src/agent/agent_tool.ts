/**
 * An agent as a tool of another agent.
 *
 * @module
 */

import type { RunHandle } from "../core/events/run_handle.ts";
import type { ModelSpec } from "../core/models/model.ts";
import type { AgentTool, ToolContext } from "../core/tools/tool.ts";
import { defineTool } from "../core/tools/tool.ts";
import type { PromptableAgent } from "./run_sub_agent.ts";

/** Options for `Agent.asTool()`: those of a tool, apart from what the agent itself determines. */
export interface AgentToolOptions
  extends Omit<AgentTool, "parameters" | "validate" | "execute" | "countedBy"> {
  /** Name by which the model calls it. */
  readonly name: string;
  /** Description for the model: what the agent can do, and what its prompt must contain. */
  readonly description: string;
}

/** An agent that a tool runs. */
interface ToolAgent extends PromptableAgent {
  setModel(model: ModelSpec): void;
}

/** Creates a tool that runs a new agent with a model for every call, with the prompt that the model passes. */
export function createAgentTool(
  createAgent: (parent: RunHandle) => ToolAgent,
  { model, ...options }: AgentToolOptions & { readonly model: ModelSpec },
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
      const agent = createAgent(context.run);
      // Set afterwards, since the API key of its options is that of the provider of their model.
      agent.setModel(model);
      return await runAgentTool(agent, { name: options.name, prompt }, context);
    },
  });
}
