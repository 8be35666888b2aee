/**
 * Requests the approvals of a batch of tool calls.
 *
 * @module
 */

import type {
  ApprovalDecision,
  DecidedCall,
  InterruptedCall,
  PendingApproval,
  PendingBatch,
} from "../../core/approval/approval.ts";
import type { StoppedBy } from "../../core/events/stopped_by.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import type { TurnContext } from "../run/turn_context.ts";
import {
  applyDecision,
  canNeedApproval,
  formatDenial,
  needsApprovalPrompt,
  requestApproval,
} from "./approve_call.ts";
import { getAbortText, getSteeringText } from "./cancel_text.ts";
import { canExplain, findObjection, reportApproval, toExplainedCall } from "./find_denial.ts";
import type { PolicyCheckedCall } from "./prepare_call.ts";
import {
  type PreparedCall,
  type ReadyCall,
  refuseCall,
  type RefusedCall,
} from "./prepared_call.ts";

/** A batch between two stages. */
export interface PreparedBatch {
  /** The calls, in call order. */
  readonly calls: readonly PreparedCall[];
  /** The policy that stops the run, if one does; all calls are then refused. */
  readonly stoppedBy?: StoppedBy;
  /** Messages for the next turn. */
  readonly injected: readonly AgentMessage[];
  /** Whether steering cancelled the batch before it ran. */
  readonly interrupted?: boolean;
  /** The approvals that the batch waits for; no call of it runs before. */
  readonly pending?: PendingBatch;
  /** The calls of the batch that an earlier process interrupted. */
  readonly interruptedCalls?: readonly InterruptedCall[] | undefined;
}

/**
 * Requests approval for every call that needs it, one at a time. A pending answer does not stop the remaining requests;
 * an abort and steering do, and cancel all calls.
 */
export function approveBatch(
  turn: TurnContext,
  batch: PreparedBatch,
): PreparedBatch | Promise<PreparedBatch> {
  const { config } = turn.run;
  if (batch.stoppedBy || !canNeedApproval(turn.run)) return cancelIfAborted(turn, batch);
  const undecided = batch.calls.filter((call) => isUndecided(turn, call));
  // Once for each call, since the tool decides and its answer may change.
  const asked = new Set(undecided.filter((call) => needsApprovalPrompt(config, call)));
  const { approve, approvalMode } = config;
  if (approvalMode !== "smart" || !approve || !canExplain(approve)) {
    return approveAsked(turn, batch, asked);
  }
  const others = undecided.filter((call) => !asked.has(call));
  return findRuledCalls(turn, others)
    .then((ruled) => approveAsked(turn, batch, new Set([...asked, ...ruled])));
}

/** Whether a call may run, and has no decision that makes a request unnecessary. */
function isUndecided(turn: TurnContext, call: PreparedCall): call is ReadyCall {
  return call.type === "ready" && !call.decision && !isAnswerCall(turn, call);
}

/**
 * Finds the calls that a rule of the approval denies or asks about, although they need no approval in the mode of the run.
 * After an abort, which cancels all calls, those that were found before it.
 */
async function findRuledCalls(
  { run: { config }, cancellation }: TurnContext,
  calls: readonly ReadyCall[],
): Promise<readonly ReadyCall[]> {
  const ruled: ReadyCall[] = [];
  for (const call of calls) {
    const finding = findObjection(config, toExplainedCall(config, call));
    try {
      if (await cancellation.untilAborted(finding)) ruled.push(call);
    } catch {
      return ruled;
    }
  }
  return ruled;
}

/** Requests the approval of the `asked` calls, and reports the others. */
function approveAsked(
  turn: TurnContext,
  batch: PreparedBatch,
  asked: ReadonlySet<PreparedCall>,
): PreparedBatch | Promise<PreparedBatch> {
  if (asked.size > 0) return requestApprovals(turn, batch, asked);
  const calls = batch.calls.map((call) => reportUnasked(turn, call));
  return cancelIfAborted(turn, { ...batch, calls });
}

/** Reports a call that runs without a request to the approval of the run; refuses it if that fails. */
function reportUnasked(turn: TurnContext, call: PreparedCall): PreparedCall {
  if (call.type === "refused" || isAnswerCall(turn, call)) return call;
  const { config } = turn.run;
  const denial = reportApproval(config, toExplainedCall(config, call), call.decision);
  return denial ? refuseCall(call.block, formatDenial(denial)) : call;
}

/** The calls of a batch to ask about, and the cancellation that ends the requests. */
interface ApprovalRequests {
  readonly asked: ReadonlySet<PreparedCall>;
  readonly cancellation: Cancellation;
}

/** Decides about the calls of a batch, until an abort or steering cancels it. */
async function requestApprovals(
  turn: TurnContext,
  batch: PreparedBatch,
  asked: ReadonlySet<PreparedCall>,
): Promise<PreparedBatch> {
  const cancellation = turn.cancellation.child();
  const onSteering = (): void => {
    if (!cancellation.aborted && cancelsUnstartedCalls(turn)) cancellation.abort();
  };
  const unsubscribe = turn.run.steering.onArrival(onSteering);
  onSteering();
  try {
    return await decideCalls(turn, batch, { asked, cancellation });
  } finally {
    unsubscribe();
    cancellation.dispose();
  }
}

async function decideCalls(
  turn: TurnContext,
  batch: PreparedBatch,
  requests: ApprovalRequests,
): Promise<PreparedBatch> {
  const { cancellation } = requests;
  const calls: PreparedCall[] = [];
  const pendingApprovals: PendingApproval[] = [];
  const decidedCalls: DecidedCall[] = [];
  const injected = [...batch.injected];
  for (const call of batch.calls) {
    if (cancellation.aborted) return cancelBatch(turn, { calls: batch.calls, injected });
    const { decision, ...checked } = await decideCall(turn, call, requests);
    if (checked.stoppedBy) return stopBatch(batch.calls, checked.stoppedBy);
    injected.push(...checked.injected);
    calls.push(checked.call);
    const approval = createPendingApproval(call);
    const outcome = decision && toOutcome(checked.call, decision);
    if (!decision) pendingApprovals.push(approval);
    else if (outcome) decidedCalls.push({ ...approval, decision: outcome });
  }
  const decided = { calls, injected };
  if (cancellation.aborted) return cancelBatch(turn, decided);
  if (pendingApprovals.length === 0) return decided;
  const { interruptedCalls } = batch;
  const interrupted = interruptedCalls && { interruptedCalls };
  return { ...decided, pending: { pendingApprovals, decidedCalls, ...interrupted } };
}

/** A call after its decision; one without a decision waits for it. */
interface CheckedDecision extends PolicyCheckedCall {
  readonly decision?: ApprovalDecision;
}

/** Decides about a call: asks the approval of the run about it, or decides without a request. */
async function decideCall(
  turn: TurnContext,
  call: PreparedCall,
  { asked, cancellation }: ApprovalRequests,
): Promise<CheckedDecision> {
  if (call.type === "refused" || !asked.has(call)) {
    return { call: reportUnasked(turn, call), decision: createOwnDecision(call), injected: [] };
  }
  const decision = await requestApproval(turn, call, cancellation);
  return decision
    ? { ...await applyDecision(turn, call, decision), decision }
    : { call, injected: [] };
}

/** Whether steering is queued that cancels calls which have not started. */
function cancelsUnstartedCalls({ run }: TurnContext): boolean {
  return run.config.interrupt !== "after_batch" && run.steering.hasArrived;
}

function cancelIfAborted(turn: TurnContext, batch: PreparedBatch): PreparedBatch {
  return turn.cancellation.aborted ? cancelBatch(turn, batch) : batch;
}

function cancelBatch(turn: TurnContext, { calls, injected }: PreparedBatch): PreparedBatch {
  if (turn.cancellation.aborted) return { calls: refuseAll(calls, getAbortText(turn)), injected };
  return { calls: refuseAll(calls, getSteeringText(turn)), injected, interrupted: true };
}

/** Refuses all calls of a batch because a policy stops the run; there is no next turn for injected messages. */
export function stopBatch(calls: readonly PreparedCall[], stoppedBy: StoppedBy): PreparedBatch {
  return { calls: refuseAll(calls, formatStop(stoppedBy)), stoppedBy, injected: [] };
}

/** Returns the result text of a call that is not run because a policy stops the run. */
export function formatStop({ policy, reason }: StoppedBy): string {
  return `Tool call not run: the policy "${policy}" stopped the run: ${reason}`;
}

/** Refuses all calls; calls that are already refused keep their reason. */
function refuseAll(calls: readonly PreparedCall[], text: string): RefusedCall[] {
  return calls.map((call) => call.type === "refused" ? call : refuseCall(call.block, text));
}

/** Whether a call returns the structured answer of the run; such a call skips policies and approval. */
export function isAnswerCall({ settings }: TurnContext, { tool }: ReadyCall): boolean {
  return tool === settings.answerTool;
}

function createPendingApproval(call: PreparedCall): PendingApproval {
  const { id: toolCallId, name, arguments: own } = call.block;
  return { toolCallId, name, arguments: call.type === "ready" ? call.arguments : own };
}

/**
 * Returns the decision to keep while other calls wait: a denial if the call was refused although it was approved, as edited
 * arguments may be; `undefined` if the call has its result already.
 */
function toOutcome(
  call: PreparedCall,
  decision: ApprovalDecision,
): ApprovalDecision | undefined {
  if (call.type === "refused" && call.result) return undefined;
  if (call.type === "ready" || decision.type === "denied") return decision;
  return { type: "denied", reason: call.text, origin: "policy" };
}

/** Returns the decision on a call without an approval request: the reason of a refusal, or the mode of the run. */
function createOwnDecision(call: PreparedCall): DecidedCall["decision"] {
  if (call.type === "ready") return call.decision ?? { type: "approved", origin: "mode" };
  return { type: "denied", reason: call.text, origin: "policy" };
}
