/**
 * A call of a tool that runs an agent.
 *
 * @module
 */

import type { AgentEvent } from "../core/event.ts";
import type { ToolContext } from "../core/tool.ts";
import type { AgentToolResult } from "../core/tool_result.ts";
import type { AgentResult } from "./agent_result.ts";
import { toAgentToolResult } from "./to_agent_tool_result.ts";

/** The part of an agent that its tool uses. */
export interface PromptableAgent {
  promptStream(
    input: string,
    options: { readonly signal: AbortSignal; readonly context: unknown },
  ): AsyncIterable<AgentEvent> & { result(): Promise<AgentResult> };
}

/** Prompts an agent, emits its events as those of the call, and returns its last reply. */
export async function runAgentTool(
  agent: PromptableAgent,
  prompt: string,
  { signal, context, onEvent }: ToolContext,
): Promise<AgentToolResult> {
  const stream = agent.promptStream(prompt, { signal, context });
  for await (const event of stream) await onEvent(event);
  return toAgentToolResult(await stream.result());
}
