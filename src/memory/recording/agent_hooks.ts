/**
 * The hooks of an agent whose state a session keeps: its compaction and its approval gate.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { internalsByAgent } from "../../agent/options.ts";
import type { ApprovalGateState, ApprovalMode, TrustGrant } from "../../core/approval/approval.ts";
import { findPlanMode, type PlanModeState } from "../../core/hooks/plan_mode_state.ts";
import { isReportingTransform } from "../context/compacting_transform.ts";
import type {
  CompactingTransform,
  CutMessages,
  ReportingTransform,
} from "../context/compaction.ts";
import { getComposedTransforms } from "../context/compose_transforms.ts";

/** The hooks of an agent whose state a session keeps. */
export interface AgentHookOptions {
  /**
   * The compacting transform, whose cut the session keeps. Default: that of the agent's `transformContext`, also within
   * `composeTransforms()`; of several, the first that writes summaries, or else the first.
   */
  readonly transform?: CompactingTransform | undefined;
  /** The gate whose mode and grants the session keeps. Default: the agent's `approve`, if it is an `approvalGate()`. */
  readonly approvalGate?: ApprovalGateState | undefined;
}

/** The hooks that were found. */
export interface AgentHooks {
  readonly transform: ReportingTransform | undefined;
  readonly approvalGate: ApprovalGateState | undefined;
  /** Plan mode, if it is a policy of the agent. */
  readonly planMode: PlanModeState | undefined;
}

/** Finds the hooks of an agent. */
export function findHooks(agent: Agent, options: AgentHookOptions = {}): AgentHooks {
  const { transformContext, approve, policies } = internalsByAgent.get(agent)?.options ?? {};
  const transforms = options.transform
    ? [options.transform]
    : getComposedTransforms(transformContext);
  const reporting = transforms.filter(isReportingTransform);
  return {
    // A log has one cut. That of another window costs nothing to make again.
    transform: reporting.find(({ writesSummaries }) => writesSummaries) ?? reporting[0],
    approvalGate: options.approvalGate ?? (isApprovalGate(approve) ? approve : undefined),
    planMode: findPlanMode(policies),
  };
}

/** Restores a cut, and finds it in the history, so that its positions are known. */
export function restoreCut(
  agent: Agent,
  hooks: Pick<AgentHooks, "transform">,
  cut: CutMessages | undefined,
): void {
  hooks.transform?.restoreMessages(cut);
  restoreHistory(agent, hooks);
}

/** Finds the cut in the history. */
export function restoreHistory(
  agent: Agent,
  { transform }: Pick<AgentHooks, "transform">,
): void {
  const { transformContext } = internalsByAgent.get(agent)?.options ?? {};
  const [first] = getComposedTransforms(transformContext);
  transform?.restoreHistory(agent.state.messages, { isChanged: first !== transform });
}

/** Turns plan mode on; an agent without that policy keeps only its tools that change nothing. */
export function restorePlanMode(agent: Agent, { planMode }: Pick<AgentHooks, "planMode">): void {
  if (planMode) return planMode.restore(agent);
  agent.setTools(agent.state.tools.filter(({ readOnly }) => readOnly === true));
}

/** The modes by strictness, the strictest first. */
const MODES: readonly unknown[] = ["always", "enabled", "smart", "bypassed"];

/**
 * Restores the state of a gate. A mode that is stored can only tighten that of the application, since a program that
 * can write to the storage could otherwise turn approvals off.
 */
export function restoreGate(
  { approvalGate }: Pick<AgentHooks, "approvalGate">,
  { mode, grants }: { readonly mode?: ApprovalMode; readonly grants?: readonly TrustGrant[] },
): void {
  if (!approvalGate) return;
  const isStricter = MODES.includes(mode) &&
    MODES.indexOf(mode) < MODES.indexOf(approvalGate.mode);
  if (mode && isStricter) approvalGate.mode = mode;
  if (!grants) return;
  approvalGate.clearTrust();
  for (const grant of grants) approvalGate.trust(grant);
}

function isApprovalGate(approve: unknown): approve is ApprovalGateState {
  return typeof approve === "function" && "mode" in approve && "trusted" in approve &&
    "trust" in approve && "clearTrust" in approve;
}
