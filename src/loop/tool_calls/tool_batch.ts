/**
 * Runs the tool calls of a turn. Each stage runs for the complete batch, in call order, before the next one: resolve
 * and validate, policies, approval, refusals, execution, result messages.
 *
 * @module
 */

import type { PendingBatch } from "../../core/approval/approval.ts";
import { type AgentError, getErrorMessage, StreamError } from "../../core/errors/errors.ts";
import type { StoppedBy } from "../../core/events/stopped_by.ts";
import { cloneJson } from "../../core/json/json.ts";
import { extractToolCalls, type ToolCallBlock } from "../../core/messages/content.ts";
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
} from "../../core/messages/message.ts";
import { createResultMessage } from "../../core/messages/result_message.ts";
import { type AgentToolResult, errorResult } from "../../core/messages/tool_result.ts";
import { toValidSpending } from "../../core/models/valid_usage.ts";
import type { ModelReply } from "../model_call/model_call.ts";
import type { ResumedBatch } from "../run/resumed_batch.ts";
import type { StepSpending } from "../run/run_progress.ts";
import type { TurnContext } from "../run/turn_context.ts";
import { approveBatch, isAnswerCall, type PreparedBatch, stopBatch } from "./approve_batch.ts";
import { getAbortText } from "./cancel_text.ts";
import { executeCalls } from "./execute_calls.ts";
import { checkPolicies, resolveCall } from "./prepare_call.ts";
import {
  type PreparedCall,
  type ReadyCall,
  refuseCall,
  type RefusedCall,
} from "./prepared_call.ts";
import { reportRefusedCalls } from "./refused_calls.ts";
import { formatRefusedHunks } from "./refused_hunks.ts";
import { prepareResumedBatch } from "./resume_batch.ts";

/** The result of a batch. */
export interface BatchOutcome {
  /** The result messages in call order; none if approvals are pending. */
  readonly toolResults: readonly ToolResultMessage[];
  /** Whether steering interrupted the batch. */
  readonly interrupted: boolean;
  /** The policy that stops the run, if one does. */
  readonly stoppedBy?: StoppedBy;
  /** Messages for the next turn. */
  readonly injected: readonly AgentMessage[];
  /** The approvals that the batch waits for, if any. */
  readonly pending?: PendingBatch;
  /** Copies of the result messages, for events. */
  readonly copies: readonly ToolResultMessage[];
  /** The usage and cost that the tools report. */
  readonly spending: readonly StepSpending[];
  /** A failure of the batch itself, which ends the run. */
  readonly error?: AgentError;
}

/** The result of a batch without calls. */
export const NO_CALLS: BatchOutcome = {
  toolResults: [],
  copies: [],
  interrupted: false,
  injected: [],
  spending: [],
};

/** Runs the tool calls of a reply. */
export async function runToolBatch(
  turn: TurnContext,
  { calls, tools }: ModelReply,
): Promise<BatchOutcome> {
  try {
    const resolved: PreparedCall[] = [];
    for (const call of calls) {
      const prepared = resolveCall(turn, tools, call);
      resolved.push(prepared instanceof Promise ? await prepared : prepared);
    }
    const checked = usesPreDispatch(turn)
      ? await applyPolicies(turn, resolved)
      : { calls: resolved, injected: [] };
    const approving = approveBatch(turn, checked);
    const approved = approving instanceof Promise ? await approving : approving;
    if (approved.calls !== resolved) await reportRefusedCalls(turn, resolved, approved.calls);
    return await executeBatch(turn, approved);
  } catch (thrown) {
    return await failBatch(turn, calls.map(({ block }) => block), thrown);
  }
}

/** Runs the tool calls of a reply whose approvals were pending. */
export async function resumeToolBatch(
  turn: TurnContext,
  message: AssistantMessage,
  batch: ResumedBatch,
): Promise<BatchOutcome> {
  try {
    turn.run.assertSettings();
    return await executeBatch(turn, await prepareResumedBatch(turn, message, batch));
  } catch (thrown) {
    return await failBatch(turn, extractToolCalls(message.content), thrown);
  }
}

/** Ends the run after a failure of a stage: answers the calls that have no result yet. */
async function failBatch(
  turn: TurnContext,
  blocks: readonly ToolCallBlock[],
  thrown: unknown,
): Promise<BatchOutcome> {
  const problem = getErrorMessage(thrown);
  const error = new StreamError(`The tool calls failed: ${problem}`, { cause: thrown });
  const failed = blocks.map((block) => refuseCall(block, `Tool call failed: ${problem}`));
  await emitRefusals(turn, failed.filter(({ block }) => !turn.run.startedCalls.has(block)));
  const emitted = new EmittedResults(turn);
  for (const call of failed) await emitted.add(call, call.result);
  return { ...NO_CALLS, toolResults: emitted.messages, copies: emitted.copies, error };
}

function usesPreDispatch({ run: { config } }: TurnContext): boolean {
  return config.policies.some(({ preDispatch }) => preDispatch);
}

/** Calls the `preDispatch` policies with every call. A `stop` refuses the complete batch before any approval. */
async function applyPolicies(
  turn: TurnContext,
  resolved: readonly PreparedCall[],
): Promise<PreparedBatch> {
  const calls: PreparedCall[] = [];
  const injected: AgentMessage[] = [];
  for (const call of resolved) {
    // Calls of an aborted turn do not run, so that no policy decides about them.
    if (call.type === "refused" || isAnswerCall(turn, call) || turn.cancellation.aborted) {
      calls.push(call);
      continue;
    }
    const checked = await checkPolicies(turn, call);
    if (checked.stoppedBy) return stopBatch(resolved, checked.stoppedBy);
    injected.push(...checked.injected);
    calls.push(checked.call);
  }
  return { calls, injected };
}

/** Runs the calls of a batch, unless it waits for approvals. */
async function executeBatch(turn: TurnContext, batch: PreparedBatch): Promise<BatchOutcome> {
  const { calls, injected, stoppedBy, pending } = batch;
  if (pending) return { ...NO_CALLS, injected, pending };
  const ready = calls.filter((call) => call.type === "ready");
  if (ready.length < calls.length) {
    await emitRefusals(turn, calls.filter((call) => call.type === "refused"));
  }
  const { results, interrupted } = await executeCalls(turn, ready);
  const emitted = new EmittedResults(turn);
  let next = 0;
  for (const call of calls) {
    const waiting = emitted.add(call, call.type === "ready" ? results[next++] : call.result);
    if (waiting) await waiting;
  }
  return {
    toolResults: emitted.messages,
    copies: emitted.copies,
    interrupted: interrupted || batch.interrupted === true,
    injected,
    spending: results.filter(({ usage, cost }) => usage || cost).map(toValidSpending),
    ...(stoppedBy && { stoppedBy }),
  };
}

async function emitRefusals(
  { run: { events, startedCalls } }: TurnContext,
  calls: readonly RefusedCall[],
): Promise<void> {
  for (const { block, text, result = errorResult(text) } of calls) {
    const { id, name } = block;
    startedCalls.add(block);
    const args = cloneJson(block.arguments);
    await events.emit({ type: "tool_execution_start", id, name, arguments: args });
    const isError = result.isError ?? false;
    await events.emit({ type: "tool_execution_end", id, name, result: cloneJson(result), isError });
  }
}

/** The result messages of a batch, which are added in call order. */
class EmittedResults {
  /** The messages. */
  readonly messages: ToolResultMessage[] = [];
  /** Their copies, for events. */
  readonly copies: ToolResultMessage[] = [];
  readonly #turn: TurnContext;

  constructor(turn: TurnContext) {
    this.#turn = turn;
  }

  /** Appends the message of a call to the history and emits it; returns a promise if the caller should wait. */
  add(call: PreparedCall, result: AgentToolResult | undefined): Promise<void> | undefined {
    const { history, config } = this.#turn.run;
    const message = createResultMessage(
      call.block,
      this.#getShownResult(call, result),
      config.now(),
      history.claimMessageId(),
    );
    const copy = history.append(message);
    this.messages.push(message);
    this.copies.push(copy);
    return history.emitCopy(copy);
  }

  /** Returns the result as the model reads it. */
  #getShownResult(call: PreparedCall, result: AgentToolResult | undefined): AgentToolResult {
    if (call.type === "refused") return result ?? errorResult(call.text);
    return withChangeNotice(call, result ?? errorResult(getAbortText(this.#turn)));
  }
}

/** Prepends a notice if the call ran with changed arguments, since the history keeps those of the model. */
function withChangeNotice(call: ReadyCall, result: AgentToolResult): AgentToolResult {
  if (!call.changed) return result;
  const text = call.refusedHunks
    ? formatRefusedHunks(call.refusedHunks)
    : `The arguments were changed before the call ran: ${JSON.stringify(call.arguments)}`;
  return { ...result, content: [{ type: "text", text }, ...result.content] };
}
