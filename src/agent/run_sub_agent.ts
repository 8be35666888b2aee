/**
 * Runs an agent for a tool call, and records it if the run of the call is recorded.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors.ts";
import type { AgentEvent } from "../core/event.ts";
import type { RunHandle } from "../core/run_handle.ts";
import type { SubAgentSession, SubAgentStart, SubAgentStatus } from "../core/run_session.ts";
import type { AgentResult } from "./agent_result.ts";
import { findProblem } from "./to_agent_tool_result.ts";

/** The part of an agent that its tool uses. */
export interface PromptableAgent {
  promptStream(
    input: string,
    options: { readonly signal: AbortSignal; readonly context: unknown },
  ): AsyncIterable<AgentEvent> & { result(): Promise<AgentResult> };
}

/** Options for `runSubAgent()`. */
export interface RunSubAgentOptions extends SubAgentStart {
  /** The run that starts the agent. */
  readonly run: RunHandle;
  /** Aborts the agent. */
  readonly signal: AbortSignal;
  /** The `context` of its run. */
  readonly context: unknown;
  /** Its session. Default: one that is started, if the run is recorded. */
  readonly session?: SubAgentSession | undefined;
  /** Emits its events. */
  readonly onEvent: (event: AgentEvent) => Promise<void>;
}

/** Prompts an agent that a tool has created, and emits its events. */
export async function runSubAgent(
  agent: PromptableAgent,
  options: RunSubAgentOptions,
): Promise<AgentResult> {
  const { run, signal, context, onEvent, ...start } = options;
  const session = options.session ?? await run.session?.startSubAgent(agent, start);
  try {
    const stream = agent.promptStream(start.prompt, { signal, context });
    for await (const event of stream) await onEvent(event);
    const result = await stream.result();
    await session?.end(createOutcome(result));
    return result;
  } catch (thrown) {
    await session?.end({ status: "failed", result: getErrorMessage(thrown) });
    throw thrown;
  }
}

function createOutcome(result: AgentResult): Parameters<SubAgentSession["end"]>[0] {
  const { text, usage, cost } = result;
  const problem = findProblem(result);
  const outcome = { usage, cost };
  if (problem === undefined) return { ...outcome, status: "completed", result: text };
  return { ...outcome, status: getFailedStatus(result), result: text || problem };
}

function getFailedStatus({ error, stopReason, stoppedBy }: AgentResult): SubAgentStatus {
  return stopReason === "aborted" && !error && !stoppedBy ? "aborted" : "failed";
}
