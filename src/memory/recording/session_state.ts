/**
 * The state of an agent, read from the path of its session.
 *
 * @module
 */

import type { ApprovalDecision, ApprovalMode, TrustGrant } from "../../core/approval/approval.ts";
import type { QueuedMessages } from "../../core/events/event.ts";
import { extractToolCalls } from "../../core/messages/content.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import { findQueued } from "../../core/sessions/queued_messages.ts";
import type { PlanStepState, SessionEntry } from "../../core/sessions/session_entry.ts";
import { isUsableModel } from "../store/entry_check.ts";

/** A step of a resumed plan. */
export interface ResumedPlanStep {
  /** Description of the step. */
  readonly step: string;
  /** Progress of the step. */
  readonly state: PlanStepState;
}

/** The plan of a resumed session. */
export interface ResumedPlan {
  /** The plan, as Markdown. */
  readonly plan: string;
  /** The steps of the plan, in order. */
  readonly steps: readonly ResumedPlanStep[];
  /** The hash under which the plan was approved; missing if it was not. */
  readonly approvedHash?: string;
}

/** An approval that is valid for the rest of the session. */
export interface ResumedApproval {
  /** Name of the tool. */
  readonly name: string;
  /** The decision, with its scope. */
  readonly decision: ApprovalDecision;
}

/** The state of an agent at the end of a session's path. */
export interface SessionState {
  /** The model that was used last. */
  readonly model?: ModelSpec;
  /** Names of the agent's tools; missing if none were recorded. */
  readonly toolNames?: readonly string[];
  /** Queued messages, including those that a run had dequeued and not delivered. */
  readonly queued: QueuedMessages;
  /** Whether plan mode was on. */
  readonly planMode: boolean;
  /** The last plan, if there is one. */
  readonly plan?: ResumedPlan;
  /** The approval mode. */
  readonly approvalMode?: ApprovalMode;
  /** Approvals that are valid for the rest of the session. */
  readonly approvals: readonly ResumedApproval[];
  /** The grants of the approval gate; missing if none were recorded. */
  readonly grants?: readonly TrustGrant[];
  /** Whether the last run was interrupted with work left to do. */
  readonly isInterrupted: boolean;
}

/** Reads the state from a path. */
export function readSessionState(path: readonly SessionEntry[]): SessionState {
  const model = getModel(path);
  const toolNames = findLastEntry(path, "tools_changed")?.names;
  const approvalMode = findLastEntry(path, "approval_mode")?.mode;
  const plan = getPlan(path);
  const grants = findLastEntry(path, "grants_changed")?.grants;
  const queued = findQueued(path);
  return {
    ...(model && { model }),
    ...(toolNames && { toolNames }),
    ...(approvalMode && { approvalMode }),
    ...(plan && { plan }),
    ...(grants && { grants }),
    queued,
    planMode: findLastEntry(path, "plan_mode")?.active ?? false,
    approvals: getApprovals(path),
    isInterrupted: isInterrupted(path, queued),
  };
}

/** Returns the last model. A thinking level that only later versions have is turned off, so that the model stays. */
function getModel(path: readonly SessionEntry[]): ModelSpec | undefined {
  const model = findLastEntry(path, "model_changed")?.model;
  return [model, model && { ...model, thinkingLevel: "off" as const }].find(isUsableModel);
}

type EntryOfType<Type extends SessionEntry["type"]> = Extract<SessionEntry, { type: Type }>;

function findLastEntry<Type extends SessionEntry["type"]>(
  path: readonly SessionEntry[],
  type: Type,
): EntryOfType<Type> | undefined {
  return path.findLast((entry): entry is EntryOfType<Type> => entry.type === type);
}

/**
 * Whether the last run has no end entry and had work left to do, which `Agent.continue()` does. A path that ends after a
 * rewind is not interrupted.
 */
function isInterrupted(path: readonly SessionEntry[], queued: QueuedMessages): boolean {
  const lastOfRun = path.findLast((entry) =>
    isOfRun(entry) || entry.type === "run_ended" || entry.type === "leaf_moved"
  );
  if (!lastOfRun || !isOfRun(lastOfRun)) return false;
  const isFinished = lastOfRun.type === "message" && isFinishedReply(lastOfRun.message);
  return !isFinished || hasQueued(queued);
}

/** Whether messages are queued. */
export function hasQueued({ steering, followUp }: QueuedMessages): boolean {
  return steering.length + followUp.length > 0;
}

/** Whether an entry belongs to a run. Others may be appended at any time, as the messages of the application may. */
function isOfRun(entry: SessionEntry): boolean {
  return entry.type === "tool_started" || entry.type === "tool_finished" ||
    entry.type === "message" && entry.message.role !== "custom" && !entry.isBetweenRuns;
}

/** Whether a message is a reply after which the model has nothing to do. */
export function isFinishedReply(message: AgentMessage): boolean {
  if (message.role !== "assistant") return false;
  const { stopReason, content } = message;
  return stopReason === "stop" ||
    stopReason === "tool_use" && extractToolCalls(content).length === 0;
}

function getPlan(path: readonly SessionEntry[]): ResumedPlan | undefined {
  const position = path.findLastIndex(({ type }) => type === "plan_created");
  const created = path[position];
  if (created?.type !== "plan_created") return undefined;
  const states = new Map<number, PlanStepState>();
  for (const entry of path.slice(position)) {
    if (entry.type === "plan_step") states.set(entry.step, entry.state);
  }
  const steps = created.steps.map((step, number): ResumedPlanStep => ({
    step,
    state: states.get(number) ?? "pending",
  }));
  const { plan, approvedHash } = created;
  return { plan, steps, ...(approvedHash !== undefined && { approvedHash }) };
}

function getApprovals(path: readonly SessionEntry[]): ResumedApproval[] {
  return path.flatMap((entry) => {
    if (entry.type !== "approval" || entry.decision.type !== "approved") return [];
    const { scope = "once" } = entry.decision;
    return scope === "once" ? [] : [{ name: entry.name, decision: entry.decision }];
  });
}
