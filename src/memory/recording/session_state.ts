/**
 * What a session's path says of the agent that comes back to it.
 *
 * @module
 */

import type { ApprovalDecision, ApprovalMode } from "../../core/approval.ts";
import type { QueuedMessage, QueuedMessages } from "../../core/event.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { ModelSpec } from "../../core/model.ts";
import type { PlanStepState, SessionEntry } from "../../core/session_entry.ts";
import type { ContextCut } from "../context/compaction.ts";
import { safeStringify } from "../store/safe_stringify.ts";

/** A step of a plan. */
export interface ResumedPlanStep {
  /** What is to be done. */
  readonly step: string;
  /** How far it is. */
  readonly state: PlanStepState;
}

/** The plan of a session. */
export interface ResumedPlan {
  /** The plan, as Markdown. */
  readonly plan: string;
  /** Its steps. */
  readonly steps: readonly ResumedPlanStep[];
}

/** Something that was approved for the whole session. */
export interface ResumedApproval {
  /** Name of the tool. */
  readonly name: string;
  /** What was approved. */
  readonly decision: ApprovalDecision;
}

/** What a path says of the agent. */
export interface SessionState {
  /** The model that was asked last. */
  readonly model?: ModelSpec;
  /** The tools that the agent had. */
  readonly toolNames?: readonly string[];
  /** What waits in the queues. */
  readonly queued: QueuedMessages;
  /** Whether plan mode was on. */
  readonly planMode: boolean;
  /** The plan. */
  readonly plan?: ResumedPlan;
  /** Which calls are asked about. */
  readonly approvalMode?: ApprovalMode;
  /** What was approved for the whole session. */
  readonly approvals: readonly ResumedApproval[];
  /** What requests left out. */
  readonly cut?: ContextCut;
  /** Whether the last run was cut off with something left to do. */
  readonly isInterrupted: boolean;
}

/** Reads a path. */
export function readSessionState(path: readonly SessionEntry[]): SessionState {
  const model = findLastEntry(path, "model_changed")?.model;
  const toolNames = findLastEntry(path, "tools_changed")?.names;
  const approvalMode = findLastEntry(path, "approval_mode")?.mode;
  const plan = getPlan(path);
  const cut = getCut(path);
  const queued = getQueued(path);
  return {
    ...(model && { model }),
    ...(toolNames && { toolNames }),
    ...(approvalMode && { approvalMode }),
    ...(plan && { plan }),
    ...(cut && { cut }),
    queued,
    planMode: findLastEntry(path, "plan_mode")?.active ?? false,
    approvals: getApprovals(path),
    isInterrupted: isInterrupted(path, queued),
  };
}

type EntryOfType<Type extends SessionEntry["type"]> = Extract<SessionEntry, { type: Type }>;

function findLastEntry<Type extends SessionEntry["type"]>(
  path: readonly SessionEntry[],
  type: Type,
): EntryOfType<Type> | undefined {
  return path.findLast((entry): entry is EntryOfType<Type> => entry.type === type);
}

/** Only these belong to a run; an approval mode or a title may be set at any time. */
const RUN_ENTRY_TYPES = new Set([
  "message",
  "tool_started",
  "tool_finished",
  "approval",
  "compaction",
]);

/**
 * A run that did not say that it ended, and had something left to do. A path that ends where somebody rewound
 * to was not interrupted there.
 */
function isInterrupted(path: readonly SessionEntry[], queued: QueuedMessages): boolean {
  const lastOfRun = path.findLast(({ type }) =>
    RUN_ENTRY_TYPES.has(type) || type === "run_ended" || type === "leaf_moved"
  );
  if (!lastOfRun || !RUN_ENTRY_TYPES.has(lastOfRun.type)) return false;
  const isFinished = lastOfRun.type === "message" && isFinalReply(lastOfRun.message);
  return !isFinished || queued.steering.length + queued.followUp.length > 0;
}

function isFinalReply(message: AgentMessage): boolean {
  return message.role === "assistant" && message.stopReason === "stop";
}

function getQueued(path: readonly SessionEntry[]): QueuedMessages {
  const position = path.findLastIndex(({ type }) => type === "queue_changed");
  const entry = path[position];
  if (entry?.type !== "queue_changed") return { steering: [], followUp: [] };
  const { queued, delivering } = entry;
  if (!delivering) return queued;
  const said = path.slice(position + 1).flatMap((entry) =>
    entry.type === "message" ? [entry.message] : []
  );
  const lost = findUndelivered(delivering, said);
  return {
    steering: [...lost.steering, ...queued.steering],
    followUp: [...lost.followUp, ...queued.followUp],
  };
}

/** What a run had taken out of the queues and not yet said; nothing once it has gone on to something else. */
function findUndelivered(
  { steering, followUp }: QueuedMessages,
  said: readonly AgentMessage[],
): QueuedMessages {
  const texts = new Set(said.map(safeStringify));
  const isLost = ({ message }: QueuedMessage) => !texts.has(safeStringify(message));
  const taken = new Set([...steering, ...followUp].map(({ message }) => safeStringify(message)));
  if (Array.from(texts).some((text) => !taken.has(text))) return { steering: [], followUp: [] };
  return { steering: steering.filter(isLost), followUp: followUp.filter(isLost) };
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
  return { plan: created.plan, steps };
}

function getApprovals(path: readonly SessionEntry[]): ResumedApproval[] {
  return path.flatMap((entry) => {
    if (entry.type !== "approval" || entry.decision.type !== "approved") return [];
    const { scope = "once" } = entry.decision;
    return scope === "once" ? [] : [{ name: entry.name, decision: entry.decision }];
  });
}

/** The last compaction as positions in the history. */
function getCut(path: readonly SessionEntry[]): ContextCut | undefined {
  const compaction = findLastEntry(path, "compaction");
  if (!compaction) return undefined;
  const messages = path.filter(({ type }) => type === "message");
  const from = messages.findIndex(({ id }) => id === compaction.firstDroppedId);
  const end = messages.findIndex(({ id }) => id === compaction.lastDroppedId);
  if (from < 0 || end < from) return undefined;
  const { summary } = compaction;
  return { from, to: end + 1, ...(summary !== undefined && { summary }) };
}
