/**
 * A call of a tool that runs an agent.
 *
 * @module
 */

import type { AgentToolResult } from "../core/messages/tool_result.ts";
import type { ToolContext } from "../core/tools/tool.ts";
import { type PromptableAgent, runSubAgent } from "./run_sub_agent.ts";
import { toAgentToolResult } from "./to_agent_tool_result.ts";

/** The call of the tool of an agent. */
export interface AgentToolCall {
  /** Name of the tool. */
  readonly name: string;
  /** The prompt of the call. */
  readonly prompt: string;
}

/** Prompts an agent, emits its events as those of the call, and returns its last reply. */
export async function runAgentTool(
  agent: PromptableAgent,
  call: AgentToolCall,
  { run, signal, context, onEvent, toolCallId }: ToolContext,
): Promise<AgentToolResult> {
  const options = { ...call, run, signal, context, onEvent, toolCallId };
  const { result } = await runSubAgent(agent, options);
  return toAgentToolResult(result);
}
