/**
 * An agent as a tool of another agent.
 *
 * @module
 */

import type { RunHandle } from "../core/run_handle.ts";
import type { AgentTool, ToolContext } from "../core/tool.ts";
import { defineTool } from "../core/tool.ts";
import type { AgentStream } from "./agent_stream.ts";
import type { RunOptions } from "./run_options.ts";

/** Options for `Agent.asTool()`: those of a tool, apart from what the agent itself determines. */
export interface AgentToolOptions
  extends Omit<AgentTool, "parameters" | "validate" | "execute" | "countedBy"> {
  /** Name by which the model calls it. */
  readonly name: string;
  /** Description for the model: what the agent can do, and what its prompt must contain. */
  readonly description: string;
}

/** The part of an agent that its tool uses. */
export interface PromptableAgent {
  promptStream(input: string, options: RunOptions): AgentStream;
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
    execute: async ({ prompt }, { signal, context, run, onEvent }: ToolContext) => {
      const stream = createAgent(run).promptStream(prompt, { signal, context });
      for await (const event of stream) await onEvent(event);
      const { toAgentToolResult } = await import("./run_code.ts");
      return toAgentToolResult(await stream.result());
    },
  });
}
