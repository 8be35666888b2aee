/**
 * Runs the tool calls of a turn. Each stage runs for the complete batch, in call order, before the next one: resolve
 * and validate, policies, approval, refusals, execution, result messages.
 *
 * @module
 */

import type { FinishedCall } from "../core/accumulate.ts";
import type { AgentMessage, ToolResultMessage } from "../core/message.ts";
import type { StoppedBy } from "../core/policy.ts";
import { type AgentToolResult, errorResult } from "../core/tool.ts";
import { needsApprovalPrompt, requestApproval } from "./approve_call.ts";
import { executeCalls } from "./execute_calls.ts";
import { checkPolicies, type PolicyCheckedCall, resolveCall } from "./prepare_call.ts";
import {
  ABORTED_TEXT,
  type PreparedCall,
  type ReadyCall,
  refuseCall,
  type RefusedCall,
} from "./prepared_call.ts";
import type { RunServices } from "./run_services.ts";
import type { TurnContext } from "./turn_context.ts";

/** The result of a batch. */
export interface BatchOutcome {
  /** The result messages in call order, already appended to the history. */
  readonly toolResults: readonly ToolResultMessage[];
  /** Whether steering interrupted the batch. */
  readonly interrupted: boolean;
  /** The policy that stops the run, if one does. */
  readonly stoppedBy?: StoppedBy;
  /** Messages for the next turn. */
  readonly injected: readonly AgentMessage[];
}

/** Runs the tool calls of a turn. */
export async function runToolBatch(
  turn: TurnContext,
  finished: readonly FinishedCall[],
): Promise<BatchOutcome> {
  const { run } = turn;
  const resolved: PreparedCall[] = [];
  for (const call of finished) resolved.push(await resolveCall(turn, call));
  const allowed = await applyPolicies(turn, resolved);
  const { calls, injected, stoppedBy } = await approveBatch(turn, allowed);
  await emitRefusals(run, calls.filter((call) => call.type === "refused"));
  const ready = calls.filter((call) => call.type === "ready");
  const { results, interrupted } = await executeCalls(run, ready);
  const resultByBlock = new Map(ready.map((call, index) => [call.block, results[index]]));
  const toolResults = calls.map((call) =>
    createResultMessage(call, resultByBlock.get(call.block), run.config.now())
  );
  for (const message of toolResults) await run.history.emitMessage(message);
  return { toolResults, interrupted, injected, ...(stoppedBy && { stoppedBy }) };
}

interface PreparedBatch {
  readonly calls: readonly PreparedCall[];
  readonly stoppedBy?: StoppedBy;
  readonly injected: readonly AgentMessage[];
}

/** Calls the `preDispatch` policies with every call. A `stop` refuses the complete batch before any approval. */
async function applyPolicies(
  turn: TurnContext,
  resolved: readonly PreparedCall[],
): Promise<PreparedBatch> {
  const calls: PreparedCall[] = [];
  const injected: AgentMessage[] = [];
  for (const call of resolved) {
    if (call.type === "refused" || isAnswerCall(turn, call)) {
      calls.push(call);
      continue;
    }
    const checked = await checkPolicies(turn, call);
    injected.push(...checked.injected);
    if (checked.stoppedBy) return stopBatch(resolved, checked.stoppedBy, injected);
    calls.push(checked.call);
  }
  return { calls, injected };
}

/** Requests approval for every call that needs it, one at a time; edited calls are checked by the policies again. */
async function approveBatch(turn: TurnContext, batch: PreparedBatch): Promise<PreparedBatch> {
  if (batch.stoppedBy) return batch;
  const { run } = turn;
  const calls: PreparedCall[] = [];
  const injected = [...batch.injected];
  for (const call of batch.calls) {
    if (run.cancellation.aborted) break;
    if (call.type === "refused" || isAnswerCall(turn, call) || !needsApprovalPrompt(run, call)) {
      calls.push(call);
      continue;
    }
    const approved = await approveCall(turn, call);
    injected.push(...approved.injected);
    if (approved.stoppedBy) return stopBatch(batch.calls, approved.stoppedBy, injected);
    calls.push(approved.call);
  }
  if (!run.cancellation.aborted) return { calls, injected };
  return { calls: refuseAll(batch.calls, ABORTED_TEXT), injected };
}

/** Whether a call returns the structured answer of the run; such a call skips policies and approval. */
function isAnswerCall({ settings }: TurnContext, { tool }: ReadyCall): boolean {
  return tool === settings.answerTool;
}

async function approveCall(turn: TurnContext, ready: ReadyCall): Promise<PolicyCheckedCall> {
  const { call, edited } = await requestApproval(turn.run, ready);
  if (!edited || call.type === "refused") return { call, injected: [] };
  return await checkPolicies(turn, call);
}

function stopBatch(
  calls: readonly PreparedCall[],
  stoppedBy: StoppedBy,
  injected: readonly AgentMessage[],
): PreparedBatch {
  const text =
    `Tool call not run: the policy "${stoppedBy.policy}" stopped the run: ${stoppedBy.reason}`;
  return { calls: refuseAll(calls, text), stoppedBy, injected };
}

/** Refuses all calls; calls that are already refused keep their reason. */
function refuseAll(calls: readonly PreparedCall[], text: string): RefusedCall[] {
  return calls.map((call) => call.type === "refused" ? call : refuseCall(call.block, text));
}

async function emitRefusals(
  { events }: RunServices,
  calls: readonly RefusedCall[],
): Promise<void> {
  for (const { block, text } of calls) {
    const { id, name } = block;
    await events.emit({ type: "tool_execution_start", id, name, arguments: block.arguments });
    const result = errorResult(text);
    await events.emit({ type: "tool_execution_end", id, name, result, isError: true });
  }
}

function createResultMessage(
  call: PreparedCall,
  executed: AgentToolResult | undefined,
  timestamp: number,
): ToolResultMessage {
  const result = executed ?? errorResult(call.type === "refused" ? call.text : ABORTED_TEXT);
  return {
    role: "tool_result",
    toolCallId: call.block.id,
    toolName: call.block.name,
    content: call.type === "ready" ? withArgumentsNotice(call, result) : result.content,
    isError: result.isError ?? false,
    ...(result.details !== undefined && { details: result.details }),
    timestamp,
  };
}

/** Prepends a notice if the call ran with changed arguments, since the history keeps those of the model. */
function withArgumentsNotice(
  call: ReadyCall,
  { content }: AgentToolResult,
): AgentToolResult["content"] {
  if (!call.changed) return content;
  const text = `The arguments were changed before the call ran: ${JSON.stringify(call.arguments)}`;
  return [{ type: "text", text }, ...content];
}
