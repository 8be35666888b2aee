/**
 * The model call of a turn: prepares the request, calls the model with retries and fallbacks, and finishes the message.
 *
 * @module
 */

import type { AgentError, AgentErrorCode } from "../../core/errors/errors.ts";
import { withModel } from "../../core/errors/with_model.ts";
import type { StoppedBy } from "../../core/events/stopped_by.ts";
import type { AssistantMessage } from "../../core/messages/message.ts";
import { addCost } from "../../core/models/usage.ts";
import type { FinishedCall } from "../../core/streams/accumulate.ts";
import type { LlmContext } from "../../core/streams/stream.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { addSpending, type RunProgress } from "../run/run_progress.ts";
import type { TurnContext } from "../run/turn_context.ts";
import {
  abortCall,
  type CallResult,
  createUnsentCall,
  discardReply,
  endFailedCall,
  endUnsent,
  isOverflow,
  toFailure,
} from "./call_result.ts";
import { addToDiscarded, callWithFallback, type ModelCall } from "./call_with_fallback.ts";
import { createMessage, MessageStart } from "./message_start.ts";
import { applyPreRequest, usesPreRequest } from "./pre_request.ts";
import { type Preparation, type PreparedRequest, prepareRequest } from "./request.ts";
import { removeUnusableTools, withPossibleChoice } from "./usable_tools.ts";

/** The reply of a turn. */
export interface ModelReply {
  /** The message. */
  readonly message: AssistantMessage;
  /** A copy of the message, for events. */
  readonly copy: AssistantMessage;
  /** Its tool calls; none if it failed or was aborted. */
  readonly calls: readonly FinishedCall[];
  /** The tools that it may call. */
  readonly tools: readonly AgentTool[];
  /** The tools that its request left out, which agents below the run may have. Default: none. */
  readonly hiddenTools?: readonly AgentTool[] | undefined;
  /** The progress of the run, including this reply. */
  readonly progress: RunProgress;
  /** The error, if the reply failed or was aborted. */
  readonly error?: AgentError;
  /** The policy that stopped the reply, if one did. */
  readonly stoppedBy?: StoppedBy;
}

/** Codes of rejected requests. OpenRouter answers one that no server of a model supports as if there were no such model. */
const REJECTIONS: readonly AgentErrorCode[] = ["bad_request", "model_not_found"];

/** Maximum number of other forms in which a rejected request is sent again, as with a tool in place of a schema. */
const MAX_OTHER_FORMS = 2;

/** Calls the model and emits its reply. Never rejects: a failure is a reply whose `stopReason` is `"error"`. */
export async function callModel(turn: TurnContext): Promise<ModelReply> {
  const { cancellation, progress } = turn;
  const start = new MessageStart(turn);
  let result: CallResult | undefined;
  try {
    if (!cancellation.aborted) {
      turn.run.assertSettings();
      const preparing = prepareRequest(turn, { overflow: progress.overflowed });
      const prepared = preparing instanceof Promise ? await preparing : preparing;
      result = await sendPrepared(turn, start, prepared);
      if (result.call.attempt.error) result = await recover(turn, start, result, prepared);
    }
  } catch (thrown) {
    result = endFailedCall(turn, result ?? createUnsentCall(turn), toFailure(thrown));
  }
  const started = start.emitOnce();
  if (started) await started;
  const reply = appendReply(turn, start, result ?? createUnsentCall(turn));
  const ended = turn.run.events.emit({ type: "message_end", message: reply.copy });
  if (ended) await ended;
  return reply;
}

/** Sends a request that has failed in other forms, and a smaller one after an overflow. */
async function recover(
  turn: TurnContext,
  start: MessageStart,
  failed: CallResult,
  prepared: Preparation,
): Promise<CallResult> {
  const result = prepared.type === "ready"
    ? await sendInOtherForms(turn, start, failed, prepared.request)
    : failed;
  return isOverflow(result.call) ? await retryWithSmallerContext(turn, start, result) : result;
}

/** Sends the request, if there is one; the tokens of a summary count in any case. */
function sendPrepared(
  turn: TurnContext,
  start: MessageStart,
  prepared: Preparation,
): CallResult | Promise<CallResult> {
  return prepared.report
    ? chargeReport(turn, prepared).then((charged) => sendOrEnd(charged, start, prepared))
    : sendOrEnd(turn, start, prepared);
}

function sendOrEnd(
  turn: TurnContext,
  start: MessageStart,
  prepared: Preparation,
): CallResult | Promise<CallResult> {
  return prepared.type === "ready"
    ? sendRequest(turn, start, prepared.request)
    : endUnsent(turn, createUnsentCall(turn), prepared);
}

/** Emits the report of `transformContext`, and adds what it spent to the progress. */
async function chargeReport(turn: TurnContext, { report }: Preparation): Promise<TurnContext> {
  if (!report) return turn;
  // Before the event, whose listeners may change it in place.
  const charged = { ...turn, progress: addSpending(turn.progress, report) };
  await turn.run.events.emit({ type: "context_compacted", report });
  return charged;
}

/**
 * Applies the `preRequest` policies and calls the model. Never rejects: a policy that fails gives a call without a
 * request.
 */
async function sendRequest(
  turn: TurnContext,
  start: MessageStart,
  prepared: PreparedRequest,
  attempts = 0,
): Promise<CallResult> {
  const outcome = usesPreRequest(turn.run)
    ? await applyPreRequest(turn, prepared).catch(toFailure)
    : { type: "ready", request: prepared } as const;
  if (outcome.type === "failed") return endFailedCall(turn, createUnsentCall(turn), outcome);
  if (outcome.type === "stopped") {
    return createUnsentCall(turn, turn.monitor?.stoppedBy ?? outcome.stoppedBy);
  }
  const usable = removeUnusableTools(turn, outcome.request);
  const { tools: offered } = prepared;
  const request = usable.tools === offered ? usable : withPossibleChoice(usable, offered);
  const onStart = () => start.emitOnce(request.model);
  const call = await callWithFallback(turn, request, { attempts, onStart });
  const { tools, hiddenTools, context: sent } = request;
  return { call, progress: addSpending(turn.progress, call), tools, hiddenTools, sent };
}

/** Sends a smaller request after an overflow, also in other forms; returns the first result if the context cannot be reduced. */
async function retryWithSmallerContext(
  turn: TurnContext,
  start: MessageStart,
  first: CallResult,
): Promise<CallResult> {
  const { run, cancellation } = turn;
  const { attempt: { error, hasOutput }, number } = first.call;
  if (!first.sent || !run.config.transformContext) return first;
  const after = { ...turn, progress: first.progress };
  const prepared = await prepareRequest(after, { overflow: true });
  const isSent = prepared.type === "ready" && !cancellation.aborted &&
    isSmaller(prepared.request.context, first.sent);
  const isDiscarded = isSent && error !== undefined && hasOutput;
  if (isDiscarded) {
    await run.events.emit({ type: "retry", attempt: number, delayMs: 0, error, discard: true });
  }
  const { progress } = await chargeReport(after, prepared);
  const charged = { ...(isDiscarded ? discardReply(first) : first), progress };
  if (cancellation.aborted) return abortCall(turn, charged);
  if (prepared.type !== "ready") return endUnsent(turn, charged, prepared);
  if (!isSent) return charged;
  const second = await sendAgain(turn, start, charged, prepared.request);
  return await sendInOtherForms(turn, start, second, prepared.request);
}

/** Whether a context is shorter than one that was rejected as too long, by its estimated tokens. */
function isSmaller(context: LlmContext, rejected: LlmContext): boolean {
  return countTokens(context) < countTokens(rejected);
}

function countTokens(context: LlmContext): number {
  return context.messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

/** Sends a request that the provider rejects again in other forms, as long as there are some. */
async function sendInOtherForms(
  turn: TurnContext,
  start: MessageStart,
  first: CallResult,
  prepared: PreparedRequest,
): Promise<CallResult> {
  let result = first;
  for (let forms = 0; forms < MAX_OTHER_FORMS && changeForm(turn, result.call); forms++) {
    result = await sendAgain(turn, start, result, prepared);
  }
  return result;
}

/**
 * Changes the form in which the `preRequest` policies make a request that the provider rejected; returns whether there is
 * another one, in which it is sent again.
 */
function changeForm({ settings, cancellation }: TurnContext, { attempt }: ModelCall): boolean {
  const { error, hasOutput } = attempt;
  if (!error || !REJECTIONS.includes(error.code) || hasOutput || cancellation.aborted) return false;
  return settings.recoverRequest?.(error) ?? false;
}

/** Sends a request after another one, whose tokens count too. */
async function sendAgain(
  turn: TurnContext,
  start: MessageStart,
  first: CallResult,
  prepared: PreparedRequest,
): Promise<CallResult> {
  const { attempts } = first.call;
  const second = await sendRequest(
    { ...turn, progress: first.progress },
    start,
    prepared,
    attempts,
  );
  const usage = addToDiscarded(first.call.usage, second.call.usage);
  const cost = addCost(first.call.cost, second.call.cost);
  return { ...second, call: { ...second.call, usage, cost } };
}

/** Appends the message to the history. */
function appendReply(
  { run }: TurnContext,
  { id }: MessageStart,
  { call, progress: before, tools, hiddenTools, sent }: CallResult,
): ModelReply {
  const { attempt: { reply: { content, calls }, stopReason, stoppedBy }, model, usage, cost } =
    call;
  const error = call.attempt.error && withModel(call.attempt.error, model);
  const message: AssistantMessage = {
    ...createMessage(run, model, { content, usage, cost, stopReason }),
    ...(id !== undefined && { id }),
    ...(error && { errorMessage: error.message, errorCode: error.code }),
  };
  const wasSent = sent !== undefined && stopReason !== "aborted";
  const overflowed = wasSent ? isOverflow(call) : before.overflowed;
  const progress = overflowed === before.overflowed ? before : { ...before, overflowed };
  return {
    message,
    copy: run.history.append(message),
    calls,
    tools,
    hiddenTools,
    progress,
    ...(error && { error }),
    ...(stoppedBy && { stoppedBy }),
  };
}
