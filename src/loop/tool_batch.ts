/**
 * A turn's tool calls: each stage for the whole batch, in call order, before the next.
 *
 * find and validate → policies → approval → refusals told → execution → one result per call
 *
 * @module
 */

import type { FinishedCall } from "../core/accumulate.ts";
import type { AgentMessage, ToolResultMessage } from "../core/message.ts";
import type { StoppedBy } from "../core/policy.ts";
import { type AgentToolResult, errorResult } from "../core/tool.ts";
import { needsApprovalPrompt, requestApproval } from "./approve_call.ts";
import type { TurnSettings } from "./config.ts";
import { executeCalls } from "./execute_calls.ts";
import { checkPolicies, resolveCall } from "./prepare_call.ts";
import {
  ABORTED_TEXT,
  type PreparedCall,
  type ReadyCall,
  refuseCall,
  type RefusedCall,
} from "./prepared_call.ts";
import type { RunContext } from "./run_context.ts";

/** What came of a batch. */
export interface BatchOutcome {
  /** One result per call, in call order, already in the history. */
  readonly toolResults: readonly ToolResultMessage[];
  /** Whether steering cut in. */
  readonly interrupted: boolean;
  /** The policy that ends the run, if one does. */
  readonly stoppedBy?: StoppedBy;
  /** Messages for the next turn. */
  readonly injected: readonly AgentMessage[];
}

/** Takes a turn's calls through all stages. */
export async function runToolBatch(
  run: RunContext,
  settings: TurnSettings,
  finished: readonly FinishedCall[],
): Promise<BatchOutcome> {
  const checked: PreparedCall[] = [];
  for (const call of finished) checked.push(await resolveCall(run, settings, call));
  const policed = await applyPolicies(run, settings, checked);
  const prepared = await approveBatch(run, settings, policed);
  await emitRefusals(run, prepared.calls.filter(isRefused));
  const ready = prepared.calls.filter(isReady);
  const { results, interrupted } = await executeCalls(run, ready);
  const resultOf = new Map(ready.map((call, index) => [call.block, results[index]]));
  const toolResults = prepared.calls.map((call) =>
    createResultMessage(run, call, resultOf.get(call.block))
  );
  for (const message of toolResults) await run.emitMessage(message);
  const { stoppedBy, injected } = prepared;
  return { toolResults, interrupted, injected, ...(stoppedBy && { stoppedBy }) };
}

interface PreparedBatch {
  readonly calls: readonly PreparedCall[];
  readonly stoppedBy?: StoppedBy;
  readonly injected: readonly AgentMessage[];
}

/** Asks the policies about every call; a stop refuses the whole batch before anybody is asked. */
async function applyPolicies(
  run: RunContext,
  settings: TurnSettings,
  checked: readonly PreparedCall[],
): Promise<PreparedBatch> {
  const calls: PreparedCall[] = [];
  const injected: AgentMessage[] = [];
  for (const call of checked) {
    if (call.type === "refused" || isAnswerCall(call, settings)) {
      calls.push(call);
      continue;
    }
    const policed = await checkPolicies(run, settings, call);
    injected.push(...policed.injected);
    if (policed.stoppedBy) return stopBatch(checked, policed.stoppedBy, injected);
    calls.push(policed.call);
  }
  return { calls, injected };
}

/** Asks about every call that needs it, one at a time; what a person edited goes past the policies again. */
async function approveBatch(
  run: RunContext,
  settings: TurnSettings,
  batch: PreparedBatch,
): Promise<PreparedBatch> {
  if (batch.stoppedBy) return batch;
  const calls: PreparedCall[] = [];
  const injected = [...batch.injected];
  for (const call of batch.calls) {
    if (run.cancellation.aborted) break;
    if (
      call.type === "refused" || isAnswerCall(call, settings) || !needsApprovalPrompt(run, call)
    ) {
      calls.push(call);
      continue;
    }
    const approved = await approveCall(run, settings, call);
    injected.push(...approved.injected);
    if (approved.stoppedBy) return stopBatch(batch.calls, approved.stoppedBy, injected);
    calls.push(approved.call);
  }
  if (!run.cancellation.aborted) return { calls, injected };
  return { calls: batch.calls.map((call) => refuseUnlessRefused(call, ABORTED_TEXT)), injected };
}

/** The run's answer is not an action, so nobody is asked about it. */
function isAnswerCall(call: ReadyCall, { answerTool }: TurnSettings): boolean {
  return call.tool === answerTool;
}

async function approveCall(
  run: RunContext,
  settings: TurnSettings,
  ready: ReadyCall,
): Promise<Awaited<ReturnType<typeof checkPolicies>>> {
  const { call, edited } = await requestApproval(run, ready);
  if (!edited || call.type === "refused") return { call, injected: [] };
  return await checkPolicies(run, settings, call);
}

function stopBatch(
  calls: readonly PreparedCall[],
  stoppedBy: StoppedBy,
  injected: readonly AgentMessage[],
): PreparedBatch {
  const text =
    `Tool call not run: the policy "${stoppedBy.policy}" stopped the run: ${stoppedBy.reason}`;
  return { calls: calls.map((call) => refuseUnlessRefused(call, text)), stoppedBy, injected };
}

function refuseUnlessRefused(call: PreparedCall, text: string): RefusedCall {
  return call.type === "refused" ? call : refuseCall(call.block, text);
}

async function emitRefusals(run: RunContext, calls: readonly RefusedCall[]): Promise<void> {
  for (const { block, text } of calls) {
    const { id, name } = block;
    await run.emit({ type: "tool_execution_start", id, name, arguments: block.arguments });
    const result = errorResult(text);
    await run.emit({ type: "tool_execution_end", id, name, result, isError: true });
  }
}

function createResultMessage(
  run: RunContext,
  call: PreparedCall,
  result: AgentToolResult | undefined,
): ToolResultMessage {
  const told = result ?? errorResult(call.type === "refused" ? call.text : ABORTED_TEXT);
  return {
    role: "tool_result",
    toolCallId: call.block.id,
    toolName: call.block.name,
    content: call.type === "ready" ? withArgumentsNotice(call, told) : told.content,
    isError: told.isError ?? false,
    ...(told.details !== undefined && { details: told.details }),
    timestamp: run.config.now(),
  };
}

/** The history keeps the model's own arguments, so the model is told when others were run. */
function withArgumentsNotice(
  call: ReadyCall,
  { content }: AgentToolResult,
): AgentToolResult["content"] {
  if (!call.changed) return content;
  const text = `The arguments were changed before the call ran: ${JSON.stringify(call.arguments)}`;
  return [{ type: "text", text }, ...content];
}

function isReady(call: PreparedCall): call is ReadyCall {
  return call.type === "ready";
}

function isRefused(call: PreparedCall): call is RefusedCall {
  return call.type === "refused";
}
