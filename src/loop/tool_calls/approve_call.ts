/**
 * Requests approval for a tool call, and applies the decision.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { getErrorMessage } from "../../core/errors/errors.ts";
import { refusePromise } from "../../core/errors/refuse_promise.ts";
import type { ApprovalRequest } from "../../core/hooks/approve.ts";
import { cloneJson, isJsonObject } from "../../core/json/json.ts";
import { needsApproval } from "../../core/tools/needs_approval.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import type { ResolvedConfig } from "../run/config.ts";
import { getAgentPath } from "../run/parent_run.ts";
import type { RunServices } from "../run/run_services.ts";
import type { TurnContext } from "../run/turn_context.ts";
import { getAbortText, getSteeringText } from "./cancel_text.ts";
import { checkPolicies, type PolicyCheckedCall, withArguments } from "./prepare_call.ts";
import { type PreparedCall, type ReadyCall, refuseCall } from "./prepared_call.ts";
import { omitRefusedHunks } from "./refused_hunks.ts";
import { toDecision } from "./to_decision.ts";

/** The part of a configuration that decides about approvals. */
export type ApprovalConfig = Pick<ResolvedConfig, "approve" | "approvalMode">;

/** Whether a call needs approval in the mode of a configuration. */
export function needsApprovalPrompt(
  { approve, approvalMode = approve ? "always" : "bypassed" }: ApprovalConfig,
  { tool, arguments: args }: Pick<ReadyCall, "tool" | "arguments">,
): boolean {
  switch (approvalMode) {
    case "bypassed":
      return false;
    case "always":
    case "enabled":
      return true;
    case "smart":
      try {
        const required: unknown = needsApproval(tool, cloneJson(args));
        refusePromise(required, "requiresApproval");
        return required !== false;
      } catch {
        return true; // A tool whose `requiresApproval` throws needs approval.
      }
  }
}

/** Whether any call of a run may need approval. */
export function canNeedApproval({ config: { approve, approvalMode } }: RunServices): boolean {
  return approve !== undefined || approvalMode !== undefined;
}

/**
 * Emits the request, calls `approve`, and emits the decision. Returns `undefined` if the decision is pending. An abort
 * of `cancellation` denies the call.
 */
export async function requestApproval(
  turn: TurnContext,
  ready: ReadyCall,
  cancellation: Cancellation,
): Promise<ApprovalDecision | undefined> {
  const { run } = turn;
  const { block: { id, name }, arguments: args } = ready;
  await run.events.emit({ type: "tool_approval_requested", id, name, arguments: cloneJson(args) });
  await run.untilDelivered();
  const decision = await callApprove(turn, ready, cancellation);
  if (decision) await emitDecision(run, id, decision);
  return decision;
}

/** Emits a decision. */
export async function emitDecision(
  { events }: RunServices,
  id: string,
  decision: ApprovalDecision,
): Promise<void> {
  await events.emit({ type: "tool_approval_resolved", id, decision: cloneJson(decision) });
}

/** Applies a decision to a call: refuses it, or validates the changed arguments and calls the policies again. */
export async function applyDecision(
  turn: TurnContext,
  ready: ReadyCall,
  decision: ApprovalDecision,
): Promise<PolicyCheckedCall> {
  if (decision.type === "denied") {
    const text = formatDenial(decision);
    return { call: refuseCall(ready.block, text), injected: [] };
  }
  const call = await changeArguments(turn, ready, decision);
  if (call === ready || call.type === "refused") return { call, injected: [] };
  return await checkPolicies(turn, call, { final: true });
}

function changeArguments(
  turn: TurnContext,
  ready: ReadyCall,
  { arguments: edited, refusedHunks }: Extract<ApprovalDecision, { type: "approved" }>,
): PreparedCall | Promise<PreparedCall> {
  if (refusedHunks) return omitRefusedHunks(turn, ready, refusedHunks);
  return edited ? withArguments(turn, ready, edited) : ready;
}

/** Returns the result text of a denied call; one that was refused before its approval keeps its text. */
export function formatDenial(
  { reason, origin }: Extract<ApprovalDecision, { type: "denied" }>,
): string {
  if (origin === "policy" && reason) return reason;
  return `Tool call rejected by approval${reason ? `: ${reason}` : ""}`;
}

/** Calls `approve` with the request. Never rejects: an abort or a failure denies the call. */
async function callApprove(
  turn: TurnContext,
  ready: ReadyCall,
  cancellation: Cancellation,
): Promise<ApprovalDecision | undefined> {
  const { approve } = turn.run.config;
  if (!approve) return { type: "denied", reason: "no approver is configured" };
  try {
    const request = await createApprovalRequest(ready, turn.run.config, cancellation);
    cancellation.signal.throwIfAborted();
    const answer = await cancellation.untilAborted(Promise.resolve(approve(request)));
    if (isJsonObject(answer) && answer["type"] === "pending") return undefined;
    const decision = toDecision(answer);
    return isDecision(answer) ? decision : refuseAnswer(decision);
  } catch (thrown) {
    if (turn.monitor?.stoppedBy) {
      return { type: "denied", reason: getAbortText(turn), origin: "policy" };
    }
    if (turn.cancellation.aborted) return { type: "denied", reason: getAbortText(turn) };
    if (cancellation.aborted) return { type: "denied", reason: getSteeringText(turn) };
    return { type: "denied", reason: `the approval failed: ${getErrorMessage(thrown)}` };
  }
}

/** Returns the decision for an answer of untyped code; a person may have given its reason. */
function refuseAnswer(decision: ApprovalDecision): ApprovalDecision {
  const problem = 'approve must return true, false or a decision such as { type: "approved" }';
  const reason = decision.type === "denied" && decision.reason;
  return {
    type: "denied",
    reason: reason ? `${problem}; the reason of its answer: ${reason}` : problem,
  };
}

/** Whether an answer is a decision; one with invalid arguments denies the call. */
function isDecision(answer: unknown): boolean {
  if (typeof answer === "boolean") return true;
  return isJsonObject(answer) && (answer["type"] === "approved" || answer["type"] === "denied");
}

/** Creates the request with a copy of the arguments, so that `approve` cannot change the history. */
async function createApprovalRequest(
  { block: { id, name }, tool, arguments: args }: ReadyCall,
  config: ResolvedConfig,
  cancellation: Cancellation,
): Promise<ApprovalRequest> {
  const { signal } = cancellation;
  const { context } = config;
  const request = {
    toolCallId: id,
    ...getAgentPath(config),
    name,
    arguments: cloneJson(args),
    tool,
    context,
    signal,
  };
  if (!tool.preview) return request;
  try {
    const changes = await cancellation.untilAborted(tool.preview(cloneJson(args), { signal }));
    return { ...request, changes };
  } catch {
    // A failed preview is not an error: running the call reports the reason.
    return request;
  }
}
