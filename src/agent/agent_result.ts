/**
 * The result of a run.
 *
 * @module
 */

import { extractText } from "../core/content.ts";
import { copyMessage } from "../core/copy_message.ts";
import { AbortedError, type AgentError, BudgetExceededError } from "../core/errors.ts";
import type { RunOutcome } from "../core/event.ts";
import type { AgentMessage } from "../core/message.ts";
import type { RunSummary } from "../loop/start_run.ts";

/** The result of a run. */
export interface AgentResult extends RunOutcome {
  /** Id of the run. */
  readonly runId: string;
  /** Number of turns. */
  readonly turns: number;
  /** Text of the last reply; empty if the run has none. */
  readonly text: string;
}

/** Creates the result of a run from its summary, with copies of its messages. */
export function toAgentResult(summary: RunSummary): AgentResult {
  const messages = summary.messages.map((message) => copyMessage(message));
  return { ...summary, messages, text: getLastText(messages) };
}

/** Returns the error of a run that failed, or whose last reply was cut off by an abort or a policy. */
export function findFailure(
  { error, stopReason, stoppedBy, abortReason }: RunOutcome,
): AgentError | undefined {
  if (error) return error;
  if (stopReason !== "aborted") return undefined;
  return stoppedBy
    ? new BudgetExceededError(stoppedBy.reason)
    : new AbortedError(undefined, { cause: abortReason });
}

/** Returns the text of the last reply among the messages of a run. */
function getLastText(messages: readonly AgentMessage[]): string {
  const reply = messages.findLast((message) => message.role === "assistant");
  return extractText(reply?.content ?? []);
}
