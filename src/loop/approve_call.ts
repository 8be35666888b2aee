/**
 * Requests approval for a tool call.
 *
 * @module
 */

import type { ApprovalDecision, ApprovalRequest } from "../core/approval.ts";
import { getErrorMessage } from "../core/errors.ts";
import { cloneJson, isJsonObject } from "../core/json.ts";
import { needsApproval } from "../core/tool.ts";
import { withArguments } from "./prepare_call.ts";
import { type PreparedCall, type ReadyCall, refuseCall } from "./prepared_call.ts";
import type { RunServices } from "./run_services.ts";

/** A call after its approval. */
export interface ApprovalResult {
  /** The call: unchanged, with edited arguments, or refused. */
  readonly call: PreparedCall;
  /** Whether its arguments were edited, so that the policies must check it again. */
  readonly edited: boolean;
}

/** Whether a call needs approval in the mode of the run. */
export function needsApprovalPrompt(
  { config: { approve, approvalMode } }: RunServices,
  { tool, arguments: args }: ReadyCall,
): boolean {
  if (!approve && !approvalMode) return false;
  switch (approvalMode ?? "enabled") {
    case "bypassed":
      return false;
    case "enabled":
      return true;
    case "smart":
      try {
        return needsApproval(tool, args);
      } catch {
        return true; // A tool whose `requiresApproval` throws needs approval.
      }
  }
}

/** Emits the request, calls `approve`, and emits the decision. */
export async function requestApproval(run: RunServices, ready: ReadyCall): Promise<ApprovalResult> {
  const { block, arguments: args } = ready;
  const { id, name } = block;
  await run.events.emit({ type: "tool_approval_requested", id, name, arguments: args });
  await run.events.untilDelivered();
  const decision = await callApprove(run, ready);
  await run.events.emit({ type: "tool_approval_resolved", id, decision });
  if (decision.type === "denied") {
    const reason = decision.reason ? `: ${decision.reason}` : "";
    return { call: refuseCall(block, `Tool call rejected by approval${reason}`), edited: false };
  }
  if (!decision.arguments) return { call: ready, edited: false };
  const call = await withArguments(run, ready, decision.arguments);
  return { call, edited: call !== ready };
}

/** Calls `approve` with the request. Never rejects: an abort or a failure denies the call. */
async function callApprove(run: RunServices, ready: ReadyCall): Promise<ApprovalDecision> {
  const { approve } = run.config;
  if (!approve) return { type: "denied", reason: "no approver is configured" };
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

/** Whether the answer is a decision; an untyped function may return anything, which then denies the call. */
function isApprovalDecision(answer: unknown): answer is ApprovalDecision {
  return isJsonObject(answer) && (answer["type"] === "approved" || answer["type"] === "denied");
}

/** Creates the request with a copy of the arguments, so that `approve` cannot change the history. */
async function createApprovalRequest(
  { cancellation }: RunServices,
  { block: { id, name }, tool, arguments: args }: ReadyCall,
): Promise<ApprovalRequest> {
  const { signal } = cancellation;
  const request = { toolCallId: id, name, arguments: cloneJson(args), tool, signal };
  if (!tool.preview) return request;
  try {
    const changes = await cancellation.untilAborted(tool.preview(cloneJson(args), { signal }));
    return { ...request, changes };
  } catch {
    // A failed preview is not an error: running the call reports the reason.
    return request;
  }
}
