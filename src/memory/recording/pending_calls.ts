/**
 * The tool calls of an interrupted turn.
 *
 * | in the tool journal           | result                                                                |
 * | ----------------------------- | --------------------------------------------------------------------- |
 * | finished                      | its result                                                            |
 * | started, may be repeated      | it runs again, as a call of today with the same idempotency key       |
 * | started, must not be repeated | an error result: its outcome is unknown                               |
 * | started too often             | an error result: each attempt was interrupted                         |
 * | missing                       | an error result: it was not run, and the model may call it again      |
 *
 * @module
 */

import type { InterruptedCall } from "../../core/approval/approval.ts";
import { describeKeptWorktree } from "../../core/events/sub_agent_report.ts";
import type { ToolCallBlock } from "../../core/messages/content.ts";
import { type AgentToolResult, errorResult } from "../../core/messages/tool_result.ts";
import { toValidSpending } from "../../core/models/valid_usage.ts";
import type {
  SubAgentSpawnedEntry,
  ToolFinishedEntry,
  ToolStartedEntry,
} from "../../core/sessions/session_entry.ts";
import type { AgentTool, SideEffect } from "../../core/tools/tool.ts";

const UNKNOWN_TEXT =
  "The outcome of this tool call is not known: it was running when the session was interrupted. " +
  "Check its effects before you continue; do not repeat the call without checking";
const NOT_RUN_TEXT = "This tool call was not run: the session was interrupted before it started. " +
  "Call the tool again if it is still needed";

/** A tool call of the interrupted turn that has no result message. */
export type PendingCall =
  | { readonly type: "finished"; readonly call: ToolCallBlock; readonly journal: ToolFinishedEntry }
  | {
    readonly type: "started";
    readonly call: ToolCallBlock;
    readonly journal: ToolStartedEntry;
    /** Number of times that the call has started. */
    readonly attempts: number;
    /** The sub-agents that the call has started. */
    readonly subAgents: readonly SubAgentSpawnedEntry[];
  }
  | { readonly type: "not_started"; readonly call: ToolCallBlock };

/** Options for {@linkcode createInterruptedCall}. */
export interface RerunOptions {
  /** The tools of today. */
  readonly tools: readonly AgentTool[];
  /** Number of times that a call may start in all. */
  readonly maxAttempts: number;
}

/** Returns the result of a pending call that is not run again: the recorded one, or an error result. */
export function getResultWithoutRunning(pending: PendingCall): AgentToolResult {
  switch (pending.type) {
    case "finished": {
      const { content, details, ...result } = pending.journal.result;
      const { isError } = pending.journal;
      return {
        content,
        ...(details !== undefined && { details }),
        isError,
        ...toValidSpending(result),
      };
    }
    case "started":
      return errorResult(describeSubAgents(pending.subAgents) ?? UNKNOWN_TEXT);
    case "not_started":
      return errorResult(NOT_RUN_TEXT);
  }
}

/** Returns what is known about the sub-agents of an interrupted call; `undefined` if it has started none. */
function describeSubAgents(subAgents: readonly SubAgentSpawnedEntry[]): string | undefined {
  if (subAgents.length === 0) return undefined;
  const agents = subAgents.map(({ name, subAgentId, sessionId = subAgentId }) =>
    `the agent "${name ?? subAgentId}" (session "${sessionId}")`
  );
  const kept = subAgents.map(({ worktree }) => describeKeptWorktree(worktree));
  return [
    `This tool call was interrupted while ${agents.join(", ")} worked for it: there is no report.`,
    "The session has what it did until then.",
    ...kept.filter((text) => text !== ""),
    "Check its effects before you start it again",
  ].join(" ");
}

/** Returns how a pending call is settled: by its result, or by running it again. */
export function createInterruptedCall(
  pending: PendingCall,
  { tools, maxAttempts }: RerunOptions,
): InterruptedCall {
  const { id: toolCallId, name } = pending.call;
  const result = getResultWithoutRunning(pending);
  const tool = tools.find((tool) => tool.name === name);
  if (pending.type !== "started" || pending.subAgents.length > 0) return { toolCallId, result };
  if (!canRerun(pending.journal, tool)) return { toolCallId, result };
  const { journal: { idempotencyKey, arguments: args, sideEffect }, attempts } = pending;
  const isBound = sideEffect === "idempotent";
  const rerun = { idempotencyKey, attempts, ...(isBound && { arguments: args }) };
  return limitAttempts({ toolCallId, result, rerun }, maxAttempts);
}

/** Returns a call that does not run again if it was started too often. */
export function limitAttempts(call: InterruptedCall, maxAttempts: number): InterruptedCall {
  const { toolCallId, rerun: { attempts = 0 } = {} } = call;
  if (attempts < maxAttempts) return call;
  const text = `This tool call was started ${attempts} times, and interrupted each time. ` +
    "It does not run again; do not repeat it";
  return { toolCallId, result: errorResult(text) };
}

/** Whether a call may run again: both the tool at the time of the call and the current tool must allow it. */
function canRerun({ sideEffect }: ToolStartedEntry, tool: AgentTool | undefined): boolean {
  return tool !== undefined && sideEffect !== "once" && getSideEffect(tool) !== "once";
}

/**
 * Returns the side effect of a tool. Default: `none` for a read-only tool, otherwise `once`, also for an unknown tool.
 */
export function getSideEffect(tool: AgentTool | undefined): SideEffect {
  return tool?.sideEffect ?? (tool?.readOnly ? "none" : "once");
}
