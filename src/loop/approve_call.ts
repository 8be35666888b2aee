/**
 * The approval of a tool call: whether it must be asked about, and what the answer means.
 *
 * @module
 */

import type { ApprovalDecision, ApprovalRequest } from "../core/approval.ts";
import { getErrorMessage } from "../core/errors.ts";
import { cloneJson, isJsonObject } from "../core/json.ts";
import { needsApproval } from "../core/tool.ts";
import { type PreparedCall, type ReadyCall, refuseCall } from "./prepared_call.ts";
import { withArguments } from "./prepare_call.ts";
import type { RunContext } from "./run_context.ts";

/** A call that was asked about. */
export interface ApprovalResult {
  /** The call: as it was, with edited arguments, or refused. */
  readonly call: PreparedCall;
  /** Whether its arguments were edited, so that the policies must see it again. */
  readonly edited: boolean;
}

/** Whether somebody must be asked before the call runs. */
export function needsApprovalPrompt(
  run: RunContext,
  { tool, arguments: args }: ReadyCall,
): boolean {
  const { approve, approvalMode } = run.config;
  if (!approve && !approvalMode) return false;
  switch (approvalMode ?? "enabled") {
    case "bypassed":
      return false;
    case "enabled":
      return true;
    case "smart":
      return isTrueOrFails(() => needsApproval(tool, args));
  }
}

/** Asks, and tells of the question and the answer. */
export async function requestApproval(run: RunContext, ready: ReadyCall): Promise<ApprovalResult> {
  const { block, tool, arguments: args } = ready;
  const { id, name } = block;
  await run.emit({ type: "tool_approval_requested", id, name, arguments: args });
  await run.untilDelivered();
  const decision = await decide(run, ready);
  await run.emit({ type: "tool_approval_resolved", id, decision });
  if (decision.type === "denied") {
    const reason = decision.reason ? `: ${decision.reason}` : "";
    return { call: refuseCall(block, `Tool call rejected by approval${reason}`), edited: false };
  }
  if (!decision.arguments) return { call: ready, edited: false };
  const call = await withArguments(run, { ...ready, tool }, decision.arguments);
  return { call, edited: call !== ready };
}

async function decide(run: RunContext, ready: ReadyCall): Promise<ApprovalDecision> {
  const { approve } = run.config;
  if (!approve) return { type: "denied", reason: "nobody can be asked" };
  try {
    const request = await createApprovalRequest(run, ready);
    const answer = await run.cancellation.untilAborted(Promise.resolve(approve(request)));
    if (answer === true) return { type: "approved" };
    return isApprovalDecision(answer) ? answer : { type: "denied" };
  } catch (thrown) {
    const reason = run.cancellation.aborted
      ? "the run was aborted"
      : `the approval failed: ${getErrorMessage(thrown)}`;
    return { type: "denied", reason };
  }
}

/** Whatever else a function without types answers is no. */
function isApprovalDecision(answer: unknown): answer is ApprovalDecision {
  return isJsonObject(answer) && (answer["type"] === "approved" || answer["type"] === "denied");
}

/** With copies of the arguments, so that nobody who is asked can change the history. */
async function createApprovalRequest(run: RunContext, ready: ReadyCall): Promise<ApprovalRequest> {
  const { block: { id, name }, tool, arguments: args } = ready;
  const { signal } = run.cancellation;
  const request = { toolCallId: id, name, arguments: cloneJson(args), tool, signal };
  if (!tool.preview) return request;
  try {
    const changes = await run.cancellation.untilAborted(tool.preview(cloneJson(args), { signal }));
    return { ...request, changes };
  } catch {
    // A change that cannot be previewed is asked about without one; running it will say why.
    return request;
  }
}

/** A tool that cannot say whether it must be asked about is asked about. */
function isTrueOrFails(needs: () => boolean): boolean {
  try {
    return needs();
  } catch {
    return true;
  }
}
