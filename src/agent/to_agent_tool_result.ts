/**
 * The result of a tool that ran an agent.
 *
 * @module
 */

import { type AgentToolResult, errorResult, textResult } from "../core/messages/tool_result.ts";
import type { AgentResult } from "./agent_result.ts";

/** Returns the last reply of a run, with its usage and cost; an error result if it did not finish. */
export function toAgentToolResult(run: AgentResult): AgentToolResult {
  const { text, usage, cost } = run;
  const problem = findProblem(run);
  const result = problem === undefined
    ? textResult(text)
    : errorResult(`The agent did not finish: ${problem}${text && `\nIts last reply: ${text}`}`);
  return { ...result, usage, cost };
}

/** Returns the reason why a run did not finish; `undefined` if it did. */
export function findProblem(
  { error, stoppedBy, stopReason, pendingApprovals }: AgentResult,
): string | undefined {
  if (error) return error.message;
  if (stoppedBy) return stoppedBy.reason;
  if (pendingApprovals) return "tool calls wait for approvals, which cannot be given later";
  if (stopReason === "length") return "its last reply was cut off at the maximum of its length";
  return stopReason === "aborted" ? "it was aborted" : undefined;
}
