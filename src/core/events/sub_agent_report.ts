/**
 * The message with the report of a sub-agent that its tool call did not wait for.
 *
 * @module
 */

import type { SubAgentStatus, SubAgentWorktree } from "./run_session.ts";

/** The sub-agent that a report is about. */
export interface ReportingSubAgent {
  /** Name of the kind of sub-agent. */
  readonly name: string;
  /** Id of the tool call that started it. */
  readonly toolCallId: string;
  /** How it ended. */
  readonly status: SubAgentStatus;
  /** Id of its session, if it has one. */
  readonly sessionId?: string | undefined;
}

/** Describes a worktree that was kept because its sub-agent was interrupted; empty if there is none. */
export function describeKeptWorktree(worktree: SubAgentWorktree | undefined): string {
  if (!worktree) return "";
  return `Its worktree ${worktree.directory} with the branch "${worktree.branch}" was kept, with changes that may not be committed.`;
}

const STATUS_TEXTS: Readonly<Record<SubAgentStatus, string>> = {
  completed: "has finished. Its report:",
  failed: "failed. Its report:",
  aborted: "was cancelled:",
  interrupted: "was interrupted:",
};

/** Formats the report of a sub-agent for the agent that started it. */
export function formatSubAgentReport(
  { name, toolCallId, status, sessionId }: ReportingSubAgent,
  result: string,
): string {
  const text = `The agent "${name}", which the call ${toolCallId} started, ${
    STATUS_TEXTS[status]
  }\n\n${result}`;
  const isIncomplete = status === "aborted" || status === "interrupted";
  if (!isIncomplete || sessionId === undefined) return text;
  return `${text}\n\nIts session "${sessionId}" has what it did until then.`;
}
