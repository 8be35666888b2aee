/**
 * An agent as a tool of another agent.
 *
 * @module
 */

import type { TransformContext } from "../core/context/context.ts";
import { copyTransform } from "../core/context/copy_transform.ts";
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

/** The options of an agent that are those of one call of its tool. */
export interface ToolAgentOptions {
  readonly parent: RunHandle;
  /** A copy, since a compacting transform keeps the cut of one history. */
  readonly transformContext: TransformContext | undefined;
}

/** The options of the tool, and what differs between its agents. */
interface CreateAgentToolOptions extends AgentToolOptions {
  readonly model: ModelSpec;
  /** The `transformContext` of the agents. */
  readonly transform: TransformContext | undefined;
}

/** Creates a tool that runs a new agent with a model for every call, with the prompt that the model passes. */
export function createAgentTool(
  createAgent: (own: ToolAgentOptions) => ToolAgent,
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
      const transformContext = transform && copyTransform(transform);
      const agent = createAgent({ parent: context.run, transformContext });
      // Set afterwards, since the API key of its options is that of the provider of their model.
      agent.setModel(model);
      return await runAgentTool(agent, { name: options.name, prompt }, context);
    },
  });
}
