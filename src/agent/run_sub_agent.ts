/**
 * Runs an agent for a tool call, and records it if the run of the call is recorded.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import type { RunHandle } from "../core/events/run_handle.ts";
import type { SubAgentSession, SubAgentStart, SubAgentStatus } from "../core/events/run_session.ts";
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
  /** Called when the agent has ended, also if it failed; the returned text is added to its report. Default: none. */
  readonly conclude?: (() => Promise<string>) | undefined;
  /** Emits its events. */
  readonly onEvent: (event: AgentEvent) => Promise<void>;
  /** Called when the session has recorded that the agent could not be run, before that rejects. Default: nothing. */
  readonly onFailureRecorded?: (() => void) | undefined;
}

/** The end of an agent that a tool has run. */
export interface SubAgentRun {
  /** The result of its run. */
  readonly result: AgentResult;
  /** The text to add to its report; empty for none. */
  readonly note: string;
}

/** Prompts an agent that a tool has created, and emits its events. */
export async function runSubAgent(
  agent: PromptableAgent,
  options: RunSubAgentOptions,
): Promise<SubAgentRun> {
  const {
    run,
    signal,
    context,
    onEvent,
    onFailureRecorded,
    conclude = () => Promise.resolve(""),
    ...start
  } = options;
  let { session } = options;
  let note: string | undefined;
  try {
    session ??= await run.session?.startSubAgent(agent, start);
    const stream = agent.promptStream(start.prompt, { signal, context });
    for await (const event of stream) await onEvent(event);
    const result = await stream.result();
    note = await conclude();
    const outcome = createOutcome(result);
    await session?.end({ ...outcome, result: addNote(outcome.result, note) });
    return { result, note };
  } catch (thrown) {
    note ??= await conclude();
    const text = addNote(getErrorMessage(thrown), note);
    await session?.end({ status: "failed", result: text });
    if (session) onFailureRecorded?.();
    throw note === "" ? thrown : new Error(text, { cause: thrown });
  }
}

/** Adds a text to a report. */
export function addNote(report: string, note: string): string {
  return [report, note].filter((text) => text !== "").join("\n\n");
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
