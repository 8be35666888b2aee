/**
 * A call of a tool that runs an agent.
 *
 * @module
 */

import type { TransformContext } from "../core/context/context.ts";
import { copyTransform } from "../core/context/copy_transform.ts";
import type { RunHandle } from "../core/events/run_handle.ts";
import type { AgentToolResult } from "../core/messages/tool_result.ts";
import type { ModelSpec } from "../core/models/model.ts";
import type { ToolContext } from "../core/tools/tool.ts";
import { type PromptableAgent, runSubAgent } from "./run_sub_agent.ts";
import { toAgentToolResult } from "./to_agent_tool_result.ts";

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

/** The agents of a tool. */
export interface AgentToolSettings {
  /** Creates the agent of a call. */
  readonly createAgent: (own: ToolAgentOptions) => ToolAgent;
  /** Their model. */
  readonly model: ModelSpec;
  /** Their `transformContext`. */
  readonly transform: TransformContext | undefined;
}

/** The call of the tool of an agent. */
export interface AgentToolCall {
  /** Name of the tool. */
  readonly name: string;
  /** The prompt of the call. */
  readonly prompt: string;
}

/** Prompts a new agent, emits its events as those of the call, and returns its last reply. */
export async function runAgentTool(
  { createAgent, model, transform }: AgentToolSettings,
  call: AgentToolCall,
  { run, signal, context, onEvent, toolCallId }: ToolContext,
): Promise<AgentToolResult> {
  const transformContext = transform && copyTransform(transform);
  const agent = createAgent({ parent: run, transformContext });
  // Set afterwards, since the API key of its options is that of the provider of their model.
  agent.setModel(model);
  const options = { ...call, run, signal, context, onEvent, toolCallId };
  const { result } = await runSubAgent(agent, options);
  return toAgentToolResult(result);
}
