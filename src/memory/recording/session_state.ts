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
import { jsonText } from "../store/json_text.ts";

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
export function sessionStateOf(path: readonly SessionEntry[]): SessionState {
  const model = last(path, "model_changed")?.model;
  const toolNames = last(path, "tools_changed")?.names;
  const approvalMode = last(path, "approval_mode")?.mode;
  const plan = planOf(path);
  const cut = cutOf(path);
  const queued = queuedOf(path);
  return {
    ...(model && { model }),
    ...(toolNames && { toolNames }),
    ...(approvalMode && { approvalMode }),
    ...(plan && { plan }),
    ...(cut && { cut }),
    queued,
    planMode: last(path, "plan_mode")?.active ?? false,
    approvals: approvalsOf(path),
    isInterrupted: isInterrupted(path, queued),
  };
}

type EntryOf<Type extends SessionEntry["type"]> = Extract<SessionEntry, { type: Type }>;

function last<Type extends SessionEntry["type"]>(
  path: readonly SessionEntry[],
  type: Type,
): EntryOf<Type> | undefined {
  return path.findLast((entry): entry is EntryOf<Type> => entry.type === type);
}

/** Only these belong to a run; an approval mode or a title may be set at any time. */
const OF_A_RUN = new Set(["message", "tool_started", "tool_finished", "approval", "compaction"]);

/**
 * A run that did not say that it ended, and had something left to do. A path that ends where somebody rewound
 * to was not interrupted there.
 */
function isInterrupted(path: readonly SessionEntry[], queued: QueuedMessages): boolean {
  const lastOfRun = path.findLast(({ type }) =>
    OF_A_RUN.has(type) || type === "run_ended" || type === "leaf_moved"
  );
  if (!lastOfRun || !OF_A_RUN.has(lastOfRun.type)) return false;
  const isFinished = lastOfRun.type === "message" && isLastWord(lastOfRun.message);
  return !isFinished || queued.steering.length + queued.followUp.length > 0;
}

function isLastWord(message: AgentMessage): boolean {
  return message.role === "assistant" && message.stopReason === "stop";
}

function queuedOf(path: readonly SessionEntry[]): QueuedMessages {
  const position = path.findLastIndex(({ type }) => type === "queue_changed");
  const entry = path[position];
  if (entry?.type !== "queue_changed") return { steering: [], followUp: [] };
  const { queued, delivering } = entry;
  if (!delivering) return queued;
  const said = path.slice(position + 1).flatMap((entry) =>
    entry.type === "message" ? [entry.message] : []
  );
  const lost = undelivered(delivering, said);
  return {
    steering: [...lost.steering, ...queued.steering],
    followUp: [...lost.followUp, ...queued.followUp],
  };
}

/** What a run had taken out of the queues and not yet said; nothing once it has gone on to something else. */
function undelivered(
  { steering, followUp }: QueuedMessages,
  said: readonly AgentMessage[],
): QueuedMessages {
  const texts = new Set(said.map(jsonText));
  const isLost = ({ message }: QueuedMessage) => !texts.has(jsonText(message));
  const taken = new Set([...steering, ...followUp].map(({ message }) => jsonText(message)));
  if (Array.from(texts).some((text) => !taken.has(text))) return { steering: [], followUp: [] };
  return { steering: steering.filter(isLost), followUp: followUp.filter(isLost) };
}

function planOf(path: readonly SessionEntry[]): ResumedPlan | undefined {
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

function approvalsOf(path: readonly SessionEntry[]): ResumedApproval[] {
  return path.flatMap((entry) => {
    if (entry.type !== "approval" || entry.decision.type !== "approved") return [];
    const { scope = "once" } = entry.decision;
    return scope === "once" ? [] : [{ name: entry.name, decision: entry.decision }];
  });
}

/** The last compaction as positions in the history. */
function cutOf(path: readonly SessionEntry[]): ContextCut | undefined {
  const compaction = last(path, "compaction");
  if (!compaction) return undefined;
  const messages = path.filter(({ type }) => type === "message");
  const from = messages.findIndex(({ id }) => id === compaction.firstDroppedId);
  const end = messages.findIndex(({ id }) => id === compaction.lastDroppedId);
  if (from < 0 || end < from) return undefined;
  const { summary } = compaction;
  return { from, to: end + 1, ...(summary !== undefined && { summary }) };
}
