/**
 * Prepares a batch whose approvals were pending, with the decisions that have arrived, or that was interrupted.
 *
 * @module
 */

import type { DecidedCall, InterruptedCall } from "../../core/approval/approval.ts";
import { getResumedTools, type ReportFailure } from "../../core/hooks/resumed_tools.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import { extractToolCalls, type ToolCallBlock } from "../../core/messages/content.ts";
import type { AgentMessage, AssistantMessage } from "../../core/messages/message.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { warnHookFailed } from "../run/policy_slots.ts";
import type { ResumedBatch } from "../run/resumed_batch.ts";
import type { TurnContext } from "../run/turn_context.ts";
import { approveBatch, formatStop, type PreparedBatch, stopBatch } from "./approve_batch.ts";
import { applyDecision, emitDecision, formatDenial } from "./approve_call.ts";
import { getAbortText } from "./cancel_text.ts";
import { findDenial, toExplainedCall } from "./find_denial.ts";
import { checkPolicies, type PolicyCheckedCall, resolveCall } from "./prepare_call.ts";
import {
  type PreparedCall,
  type ReadyCall,
  refuseCall,
  type RefusedCall,
} from "./prepared_call.ts";
import { reportRefusedCalls } from "./refused_calls.ts";

const NOT_RESTORED_TEXT =
  "Tool call not run: its state was lost while an approval was pending. Make the call again if it is still needed.";

/**
 * Prepares the calls of the last reply: those whose approvals were pending, and those that an earlier process
 * interrupted. The tools, schemas, policies and, for a call that runs again, the approval of today apply; policies cannot
 * change arguments that were approved.
 */
export async function prepareResumedBatch(
  turn: TurnContext,
  message: AssistantMessage,
  batch: ResumedBatch,
): Promise<PreparedBatch> {
  const blocks = extractToolCalls(message.content);
  const injected: AgentMessage[] = [];
  const calls: PreparedCall[] = [];
  const { interruptedCalls } = batch;
  await emitDecisions(turn, blocks, batch);
  for (const block of blocks) {
    const prepared = await prepareResumedCall(turn, block, batch);
    const { stoppedBy } = prepared;
    if (stoppedBy) {
      const text = formatStop(stoppedBy);
      const rest = blocks.slice(calls.length)
        .map((block) => refuseInterrupted(block, batch, text));
      await reportRefusedCalls(turn, [...calls, prepared.call], []);
      return stopBatch([...calls, ...rest], stoppedBy);
    }
    injected.push(...prepared.injected);
    calls.push(prepared.call);
  }
  const approved = await approveBatch(turn, { calls, injected, interruptedCalls });
  const confirmed = approved.calls.map((call) => refuseOtherArguments(call, batch));
  await reportRefusedCalls(turn, calls, confirmed);
  return { ...approved, calls: confirmed };
}

/** Emits all decisions first, since a policy may stop the batch before a later call is prepared. */
async function emitDecisions(
  { run }: TurnContext,
  blocks: readonly ToolCallBlock[],
  { decisions }: ResumedBatch,
): Promise<void> {
  for (const { id } of blocks) {
    const decision = decisions.get(id);
    if (decision) await emitDecision(run, id, decision);
  }
}

async function prepareResumedCall(
  turn: TurnContext,
  block: ToolCallBlock,
  batch: ResumedBatch,
): Promise<PolicyCheckedCall> {
  const approved = findDecidedCall(block, batch);
  const { rerun } = findInterrupted(block, batch) ?? {};
  const key = rerun?.idempotencyKey && { idempotencyKey: rerun.idempotencyKey };
  if (!approved) {
    if (!rerun) return { call: refuseInterrupted(block, batch), injected: [] };
    return await prepareCall(turn, block, { arguments: block.arguments, ...key });
  }
  const { arguments: args, decision } = approved;
  if (decision.type === "denied") {
    return { call: refuseCall(block, formatDenial(decision)), injected: [] };
  }
  return await prepareCall(turn, block, { arguments: args, decision, ...key });
}

/** Returns the arguments and the decision of a call whose approval was pending, or was decided before the others. */
function findDecidedCall(
  { id }: ToolCallBlock,
  { pendingApprovals, decidedCalls = [], decisions }: ResumedBatch,
): Pick<DecidedCall, "arguments" | "decision"> | undefined {
  const pending = pendingApprovals.find(({ toolCallId }) => toolCallId === id);
  if (!pending) return decidedCalls.find(({ toolCallId }) => toolCallId === id);
  const decision = decisions.get(id);
  return decision && { arguments: pending.arguments, decision };
}

function findInterrupted(
  { id }: ToolCallBlock,
  { interruptedCalls = [] }: ResumedBatch,
): InterruptedCall | undefined {
  return interruptedCalls.find(({ toolCallId }) => toolCallId === id);
}

/** Refuses a call that does not run again; it keeps the result that it has already. */
function refuseInterrupted(
  block: ToolCallBlock,
  batch: ResumedBatch,
  text: string = NOT_RESTORED_TEXT,
): RefusedCall {
  const interrupted = findInterrupted(block, batch);
  const refused = refuseCall(block, text);
  return interrupted ? { ...refused, result: interrupted.result } : refused;
}

/** Refuses a call that runs again, if policies or an approval have changed the arguments of its idempotency key. */
function refuseOtherArguments(call: PreparedCall, batch: ResumedBatch): PreparedCall {
  const expected = findInterrupted(call.block, batch)?.rerun?.arguments;
  if (call.type === "refused" || !expected || isJsonEqual(call.arguments, expected)) return call;
  return refuseInterrupted(call.block, batch);
}

/** The parts of a call that it has from an earlier run. */
type EarlierCall = Pick<ReadyCall, "arguments" | "decision" | "idempotencyKey">;

/** Returns the tools of the turn with those that policies would have added to its request. */
function listTools({ run, settings: { tools } }: TurnContext): readonly AgentTool[] {
  const onFailure: ReportFailure = (policy, thrown) =>
    void warnHookFailed(run, { policy, hook: "resumeTools", thrown });
  return getResumedTools(run.config.policies, { runId: run.runId, tools }, onFailure);
}

/** Validates a call and calls the policies; applies its decision if there is one. */
async function prepareCall(
  turn: TurnContext,
  block: ToolCallBlock,
  { arguments: args, ...earlier }: EarlierCall,
): Promise<PolicyCheckedCall> {
  const { decision } = earlier;
  const call = { block: { ...block, arguments: args }, state: { type: "complete" } } as const;
  const resolved = await resolveCall(turn, listTools(turn), call);
  if (resolved.type === "refused") {
    return { call: refuseCall(block, resolved.text), injected: [] };
  }
  const changed = JSON.stringify(args) !== JSON.stringify(block.arguments);
  const ready = { ...resolved, ...earlier, block, changed };
  const checked = await checkPolicies(turn, ready, { final: decision !== undefined });
  if (checked.stoppedBy || checked.call.type === "refused" || !decision) return checked;
  const applied = await applyDecision(turn, checked.call, decision);
  return {
    ...applied,
    call: await refuseDenied(turn, applied.call),
    injected: [...checked.injected, ...applied.injected],
  };
}

/** Refuses an approved call that a rule of today denies: no rule has seen arguments that were edited after the run. */
async function refuseDenied(turn: TurnContext, call: PreparedCall): Promise<PreparedCall> {
  const { run, cancellation } = turn;
  if (call.type === "refused") return call;
  try {
    const finding = findDenial(run.config, toExplainedCall(run.config, call));
    const denial = await cancellation.untilAborted(finding);
    return denial ? refuseCall(call.block, formatDenial(denial)) : call;
  } catch {
    // Only an abort ends the search without an answer.
    return refuseCall(call.block, getAbortText(turn));
  }
}
