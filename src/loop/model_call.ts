/**
 * The model call of a turn: prepares the context, calls the model with retries and fallbacks, and finishes the message.
 *
 * @module
 */

import type { FinishedCall } from "../core/accumulate.ts";
import type { AgentError } from "../core/errors.ts";
import type { AssistantMessage } from "../core/message.ts";
import type { ModelSpec } from "../core/model.ts";
import type { StoppedBy } from "../core/policy.ts";
import type { LlmContext } from "../core/stream.ts";
import { addCost, addUsage, zeroCost, zeroUsage } from "../core/usage.ts";
import { type Attempt, createAbortedAttempt, createAbortedError } from "./attempt.ts";
import { callWithFallback, type ModelCall } from "./call_with_fallback.ts";
import { toHookError } from "./hook_error.ts";
import { prepareSmallerContext } from "./overflow.ts";
import { prepareContext, type PreparedContext } from "./request.ts";
import { addSpending, type RunProgress } from "./run_progress.ts";
import type { RunServices } from "./run_services.ts";
import type { TurnContext } from "./turn_context.ts";

/** The reply of a turn. */
export interface ModelReply {
  /** The message, as appended to the history. */
  readonly message: AssistantMessage;
  /** Its tool calls; none if it failed or was aborted. */
  readonly calls: readonly FinishedCall[];
  /** The progress of the run, including this reply. */
  readonly progress: RunProgress;
  /** The error, if the reply failed or was aborted. */
  readonly error?: AgentError;
  /** The policy that stopped the reply, if one did. */
  readonly stoppedBy?: StoppedBy;
}

/** Calls the model and emits its reply. Never rejects: a failure is a reply whose `stopReason` is `"error"`. */
export async function callModel(turn: TurnContext): Promise<ModelReply> {
  const { run, settings: { model }, progress } = turn;
  const start = new MessageStart(run, model);
  let result: CallResult | undefined;
  try {
    if (!run.cancellation.aborted) {
      const prepared = await prepareContext(turn, progress.overflowed);
      result = await sendRequest(turn, start, prepared);
      if (isOverflow(result.call)) result = await retryWithSmallerContext(turn, start, result);
    }
  } catch (thrown) {
    result ??= createUnsentCall(turn);
    result = run.cancellation.aborted
      ? abortCall(run, result)
      : endCall(result, { stopReason: "error", error: toHookError("A hook", thrown) });
  }
  await start.emitOnce();
  return await finishCall(run, result ?? createUnsentCall(turn));
}

/** A model call that may be followed by another one with a smaller context. */
interface CallResult {
  readonly call: ModelCall;
  /** The progress of the run, without the tokens of this call. */
  readonly progress: RunProgress;
  /** The context that was sent; missing if the call failed before. */
  readonly sent?: LlmContext;
}

/** Emits the `message_start` of the reply once per turn, before its first delta. */
class MessageStart {
  readonly #run: RunServices;
  readonly #model: ModelSpec;
  #emitted = false;

  constructor(run: RunServices, model: ModelSpec) {
    this.#run = run;
    this.#model = model;
  }

  async emitOnce(): Promise<void> {
    if (this.#emitted) return;
    this.#emitted = true;
    const message = createEmptyMessage(this.#model, this.#run.config.now());
    await this.#run.events.emit({ type: "message_start", message });
  }
}

async function sendRequest(
  turn: TurnContext,
  start: MessageStart,
  { context, report }: PreparedContext,
): Promise<CallResult> {
  const { run } = turn;
  // The tokens of a summary count towards the run.
  const progress = report ? addSpending(turn.progress, report) : turn.progress;
  if (report) await run.events.emit({ type: "context_compacted", report });
  await start.emitOnce();
  await run.events.untilDelivered();
  const call = await callWithFallback({ ...turn, progress }, context);
  return { call, progress, sent: context };
}

function isOverflow({ attempt }: ModelCall): boolean {
  return attempt.error?.code === "context_window_overflow";
}

/** Sends a smaller request after an overflow; returns the first result if the context cannot be reduced. */
async function retryWithSmallerContext(
  turn: TurnContext,
  start: MessageStart,
  first: CallResult,
): Promise<CallResult> {
  const { run } = turn;
  const { error, hasOutput } = first.call.attempt;
  const prepared = first.sent && await prepareSmallerContext(turn, first.sent);
  if (run.cancellation.aborted) return abortCall(run, first);
  if (!prepared) return first;
  if (error && hasOutput) {
    await run.events.emit({ type: "retry", attempt: 1, delayMs: 0, error, discard: true });
  }
  const second = await sendRequest({ ...turn, progress: first.progress }, start, prepared);
  const usage = addUsage(first.call.usage, second.call.usage);
  const cost = addCost(first.call.cost, second.call.cost);
  return { ...second, call: { ...second.call, usage, cost } };
}

/** Replaces the outcome of a call with an error; keeps its output and its token counts. */
function endCall(
  { call, ...rest }: CallResult,
  end: Required<Pick<Attempt, "stopReason" | "error">>,
): CallResult {
  return { ...rest, call: { ...call, attempt: { ...call.attempt, ...end } } };
}

function abortCall(run: RunServices, result: CallResult): CallResult {
  return endCall(result, { stopReason: "aborted", error: createAbortedError(run) });
}

async function finishCall(run: RunServices, result: CallResult): Promise<ModelReply> {
  const { attempt: { reply: { content, calls }, stopReason, error, stoppedBy } } = result.call;
  const { model, usage, cost } = result.call;
  const message: AssistantMessage = {
    ...createEmptyMessage(model, run.config.now()),
    content,
    usage,
    cost,
    stopReason,
    ...(error && { errorMessage: error.message, errorCode: error.code }),
  };
  const wasSent = result.sent !== undefined && stopReason !== "aborted";
  const overflowed = wasSent ? isOverflow(result.call) : result.progress.overflowed;
  const progress = { ...addSpending(result.progress, { usage, cost }), overflowed };
  run.history.append(message);
  await run.events.emit({ type: "message_end", message });
  return { message, calls, progress, ...(error && { error }), ...(stoppedBy && { stoppedBy }) };
}

/** Creates the result of a call that was aborted before a request was sent. */
function createUnsentCall({ run, settings: { model }, progress }: TurnContext): CallResult {
  const attempt = createAbortedAttempt(run);
  return { call: { attempt, model, usage: zeroUsage(), cost: zeroCost() }, progress };
}

function createEmptyMessage({ provider, modelId }: ModelSpec, timestamp: number): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    provider,
    modelId,
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: "stop",
    timestamp,
  };
}
