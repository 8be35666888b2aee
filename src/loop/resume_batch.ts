/**
 * Prepares a batch whose approvals were pending, with the decisions that have arrived.
 *
 * @module
 */

import type { ApprovalDecision, PendingApproval } from "../core/approval.ts";
import { extractToolCalls, type ToolCallBlock } from "../core/content.ts";
import type { AgentMessage, AssistantMessage } from "../core/message.ts";
import { applyDecision, emitDecision, formatDenial } from "./approve_call.ts";
import { formatStop, type PreparedBatch, stopBatch } from "./approve_batch.ts";
import { checkPolicies, type PolicyCheckedCall, resolveCall } from "./prepare_call.ts";
import { type PreparedCall, refuseCall } from "./prepared_call.ts";
import type { ResumedBatch } from "./resumed_batch.ts";
import type { TurnContext } from "./turn_context.ts";

const NOT_RESTORED_TEXT =
  "Tool call not run: its state was lost while an approval was pending. Make the call again if it is still needed.";

/**
 * Prepares the calls of the last reply. The tools, schemas and policies of today apply, but they cannot change the
 * arguments that were approved.
 */
export async function prepareResumedBatch(
  turn: TurnContext,
  message: AssistantMessage,
  batch: ResumedBatch,
): Promise<PreparedBatch> {
  const blocks = extractToolCalls(message.content);
  const injected: AgentMessage[] = [];
  const calls: PreparedCall[] = [];
  for (const block of blocks) {
    const prepared = await prepareResumedCall(turn, block, batch);
    injected.push(...prepared.injected);
    const { stoppedBy } = prepared;
    if (stoppedBy) {
      const text = formatStop(stoppedBy);
      const rest = blocks.slice(calls.length).map((block) => refuseCall(block, text));
      return stopBatch([...calls, ...rest], stoppedBy, injected);
    }
    calls.push(prepared.call);
  }
  return { calls, injected };
}

async function prepareResumedCall(
  turn: TurnContext,
  block: ToolCallBlock,
  { pendingApprovals, decidedCalls = [], decisions }: ResumedBatch,
): Promise<PolicyCheckedCall> {
  const pending = pendingApprovals.find(({ toolCallId }) => toolCallId === block.id);
  const decided = decidedCalls.find(({ toolCallId }) => toolCallId === block.id);
  const decision = pending ? decisions.get(block.id) : decided?.decision;
  const approval = pending ?? decided;
  if (!decision || !approval) {
    return { call: refuseCall(block, NOT_RESTORED_TEXT), injected: [] };
  }
  if (pending) await emitDecision(turn.run, block.id, decision);
  if (decision.type === "denied") {
    return { call: refuseCall(block, formatDenial(decision)), injected: [] };
  }
  return await prepareApprovedCall(turn, block, { approval, decision });
}

interface ApprovedCall {
  readonly approval: PendingApproval;
  readonly decision: ApprovalDecision;
}

async function prepareApprovedCall(
  turn: TurnContext,
  block: ToolCallBlock,
  { approval, decision }: ApprovedCall,
): Promise<PolicyCheckedCall> {
  const args = approval.arguments;
  const asked = { block: { ...block, arguments: args }, state: { type: "complete" } } as const;
  const resolved = await resolveCall(turn, turn.settings.tools, asked);
  if (resolved.type === "refused") {
    return { call: refuseCall(block, resolved.text), injected: [] };
  }
  const changed = JSON.stringify(args) !== JSON.stringify(block.arguments);
  const checked = await checkPolicies(turn, { ...resolved, block, changed }, { final: true });
  if (checked.stoppedBy || checked.call.type === "refused") return checked;
  const applied = await applyDecision(turn, checked.call, decision);
  return { ...applied, injected: [...checked.injected, ...applied.injected] };
}
