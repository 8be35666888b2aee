/**
 * Decides about a call without asking a person.
 *
 * @module
 */

import type { ApprovalDecision } from "../core/approval.ts";
import type { Approve, ExplainedCall, ExplainingApprove } from "../core/approve.ts";
import { getErrorMessage } from "../core/errors.ts";
import { type ApprovalConfig, needsApprovalPrompt } from "./needs_approval_prompt.ts";
import { toDecision } from "./to_decision.ts";

/**
 * Returns the decision of a configuration on a call. A call that a person would be asked about is denied, since an agent
 * that a tool runs works alone. Never rejects.
 */
export async function decideAlone(
  config: ApprovalConfig,
  call: ExplainedCall,
): Promise<ApprovalDecision> {
  if (!needsApprovalPrompt(config, call)) return { type: "approved", origin: "mode" };
  const { approve } = config;
  if (!approve || !canExplain(approve)) return createDenial("every such call is asked about");
  try {
    const { decision } = await approve.explain(call);
    return decision.type === "asked" ? createDenial(decision.reason) : toDecision(decision);
  } catch (thrown) {
    return createDenial(`the approval failed: ${getErrorMessage(thrown)}`);
  }
}

function canExplain(approve: Approve): approve is ExplainingApprove {
  return "explain" in approve && typeof approve.explain === "function";
}

function createDenial(reason: string): ApprovalDecision {
  return {
    type: "denied",
    reason: `this agent works alone, and the call needs the approval of a person (${reason})`,
    origin: "policy",
  };
}
