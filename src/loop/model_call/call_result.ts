/**
 * The result of the model calls of a turn, and the ways in which they end without a complete reply.
 *
 * @module
 */

import type { StoppedBy } from "../../core/events/stopped_by.ts";
import { zeroCost, zeroUsage } from "../../core/models/usage.ts";
import type { LlmContext } from "../../core/streams/stream.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { toHookError } from "../callbacks/hook_error.ts";
import type { RunProgress } from "../run/run_progress.ts";
import type { TurnContext } from "../run/turn_context.ts";
import { createAbortedAttempt } from "./attempt.ts";
import type { ModelCall } from "./call_with_fallback.ts";
import type { CompactionRefusal } from "./compaction_check.ts";

/** A model call that may be followed by another one with a smaller context. */
export interface CallResult {
  readonly call: ModelCall;
  /** The progress of the run, including this call. */
  readonly progress: RunProgress;
  /** The tools that the reply may call. */
  readonly tools: readonly AgentTool[];
  /** The tools that the request left out. */
  readonly hiddenTools?: readonly AgentTool[] | undefined;
  /** The context that was sent; missing if the call failed before. */
  readonly sent?: LlmContext;
}

/** Whether a call ended since its context was too long. */
export function isOverflow({ attempt }: ModelCall): boolean {
  return attempt.error?.code === "context_window_overflow";
}

/** Creates the result of a call that was aborted or stopped before a request was sent. */
export function createUnsentCall(turn: TurnContext, stoppedBy?: StoppedBy): CallResult {
  const { settings: { model, tools }, progress } = turn;
  const attempt = createAbortedAttempt(turn, stoppedBy);
  return {
    call: { attempt, model, attempts: 0, number: 0, usage: zeroUsage(), cost: zeroCost() },
    progress,
    tools,
  };
}

/** Ends a call after which no request can be made. */
export function endUnsent(
  turn: TurnContext,
  result: CallResult,
  refusal: CompactionRefusal,
): CallResult {
  if (refusal.type === "failed") return endFailedCall(turn, result, refusal);
  return abortCall(turn, result, turn.monitor?.stoppedBy ?? refusal.stoppedBy);
}

/** A hook that failed. */
export interface HookFailure {
  readonly type: "failed";
  readonly thrown: unknown;
}

/** Creates the failure of a hook. */
export function toFailure(thrown: unknown): HookFailure {
  return { type: "failed", thrown };
}

/** Ends a call with the error of a hook, or as aborted; keeps its output and its token counts. */
export function endFailedCall(
  turn: TurnContext,
  result: CallResult,
  { thrown }: HookFailure,
): CallResult {
  if (turn.cancellation.aborted) return abortCall(turn, result);
  const { call, ...rest } = result;
  const end = { stopReason: "error", error: toHookError("A hook", thrown) } as const;
  return { ...rest, call: { ...call, attempt: { ...call.attempt, ...end } } };
}

/** Ends a call as aborted, or with the policy that stopped it; keeps its output and its token counts. */
export function abortCall(
  turn: TurnContext,
  { call, ...rest }: CallResult,
  stoppedByPolicy?: StoppedBy,
): CallResult {
  const { stopReason, error, stoppedBy } = createAbortedAttempt(turn, stoppedByPolicy);
  const end = { stopReason, ...(error && { error }), ...(stoppedBy && { stoppedBy }) };
  return { ...rest, call: { ...call, attempt: { ...call.attempt, ...end } } };
}

/** Returns a call without the reply that a `retry` event has discarded, since an abort may end the call now. */
export function discardReply({ call, ...rest }: CallResult): CallResult {
  const attempt = { ...call.attempt, reply: { content: [], calls: [] }, hasOutput: false };
  return { ...rest, call: { ...call, attempt } };
}
