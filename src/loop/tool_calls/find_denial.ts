/**
 * Checks decisions that an approval has not made itself against its rules, and reports them to it.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { getErrorMessage } from "../../core/errors/errors.ts";
import { refusePromise } from "../../core/errors/refuse_promise.ts";
import type { Approve, ExplainedCall, ExplainingApprove } from "../../core/hooks/approve.ts";
import { cloneJson } from "../../core/json/json.ts";
import type { ResolvedConfig } from "../run/config.ts";
import { getAgentPath } from "../run/parent_run.ts";
import type { ApprovalConfig } from "./approve_call.ts";
import type { ReadyCall } from "./prepared_call.ts";
import { toDecision } from "./to_decision.ts";

/** A decision that denies a call. */
export type Denial = Extract<ApprovalDecision, { type: "denied" }>;

/** A rule requires that a person is asked about a call. */
export interface RuleQuestion {
  readonly type: "asked";
  /** The reason, as a sentence. */
  readonly reason: string;
}

/**
 * Returns the denial of a call by the rules of a configuration, or that one of them asks; `undefined` if none of them has an
 * objection. Never rejects: an approval that fails denies the call.
 */
export async function findObjection(
  { approve, approvalMode }: ApprovalConfig,
  call: ExplainedCall,
): Promise<Denial | RuleQuestion | undefined> {
  if (approvalMode === "bypassed" || !approve || !canExplain(approve)) return undefined;
  try {
    const { decision } = await approve.explain(copyCall(call));
    if (decision.type === "asked") {
      const { type, rule, reason } = decision;
      return rule === undefined ? undefined : { type, reason };
    }
    const denial = toDecision(decision);
    // The mode of an agent that works alone denies what a person would be asked about.
    return denial.type === "denied" && denial.origin !== "mode" ? denial : undefined;
  } catch (thrown) {
    return createFailure(thrown);
  }
}

/**
 * Returns the denial of a call by the rules of a configuration; `undefined` if a person may approve it. Never rejects: an
 * approval that fails denies the call.
 */
export async function findDenial(
  config: ApprovalConfig,
  call: ExplainedCall,
): Promise<Denial | undefined> {
  const objection = await findObjection(config, call);
  return objection?.type === "denied" ? objection : undefined;
}

/** Reports a call that was approved without the approval of a configuration; returns a denial if that fails. */
export function reportApproval(
  { approve }: ApprovalConfig,
  call: ExplainedCall,
  decision?: ApprovalDecision,
): Denial | undefined {
  if (!approve || !canExplain(approve)) return undefined;
  try {
    const noted: unknown = approve.onApproved?.(copyCall(call), decision);
    refusePromise(noted, "onApproved");
    return undefined;
  } catch (thrown) {
    return createFailure(thrown);
  }
}

/** Returns a call of an agent as approvals get it. */
export function toExplainedCall(
  config: Pick<ResolvedConfig, "parent">,
  { block: { name }, tool, arguments: args }: ReadyCall,
): ExplainedCall {
  return { ...getAgentPath(config), name, tool, arguments: args };
}

/** Copies a call, so that an approval cannot change its arguments. */
function copyCall({ path, name, tool, arguments: args }: ExplainedCall): ExplainedCall {
  return { ...(path && { path }), name, tool, arguments: cloneJson(args) };
}

/** Whether an approval can state its decision on a call without asking. */
export function canExplain(approve: Approve): approve is ExplainingApprove {
  return "explain" in approve && typeof approve.explain === "function";
}

function createFailure(thrown: unknown): Denial {
  return { type: "denied", reason: `the approval failed: ${getErrorMessage(thrown)}` };
}
