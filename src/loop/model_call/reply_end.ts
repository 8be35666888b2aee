/**
 * The terminal event of a reply.
 *
 * @module
 */

import {
  AbortedError,
  AgentError,
  getErrorMessage,
  StreamError,
} from "../../core/errors/errors.ts";
import type { StopReason } from "../../core/models/model.ts";
import type { Cost, Usage } from "../../core/models/usage.ts";
import { toValidCost, toValidUsage } from "../../core/models/valid_usage.ts";
import type { StreamDoneEvent, StreamErrorEvent } from "../../core/streams/stream.ts";

/** The end of a reply, with valid amounts. */
export interface ReplyEnd {
  /** The type of the event. */
  readonly type: "done" | "error";
  /** The reason why the reply ended. */
  readonly stopReason: StopReason;
  /** Token counts. */
  readonly usage: Usage;
  /** The cost that the provider reported, if any. */
  readonly cost?: Cost;
  /** The provider's id of the reply, if it has one. */
  readonly responseId?: string;
  /** The error, if the type is `error`. */
  readonly error?: AgentError;
}

/**
 * Reads a terminal event, whose parts may have any type. Reads each part once: one that cannot be read fails the reply
 * here, and not the steps that follow.
 *
 * @throws Whatever a property of the event throws.
 */
export function parseReplyEnd(event: StreamDoneEvent | StreamErrorEvent): ReplyEnd {
  const { type, stopReason } = event;
  const usage = toValidUsage(event.usage);
  if (event.type === "error") return { type, stopReason, usage, error: parseError(event) };
  const { cost, responseId } = event;
  return {
    type,
    stopReason,
    usage,
    ...(cost && { cost: toValidCost(cost) }),
    ...(typeof responseId === "string" && { responseId }),
  };
}

function parseError(
  { error }: { readonly error: AgentError | null | undefined },
): AgentError {
  if (error) return toStreamError(error);
  return new StreamError('The "error" event of the model stream has no error');
}

/** Returns an `AgentError` unchanged, and anything else as the cause of a `StreamError`. */
export function toStreamError(thrown: unknown): AgentError {
  if (AgentError.is(thrown)) return thrown;
  return new StreamError(`The model stream failed: ${getErrorMessage(thrown)}`, { cause: thrown });
}

/** Returns the reason of an abort if it is an `AbortedError`, otherwise an `AbortedError` with it as the cause. */
export function toAbortedError(reason: unknown): AgentError {
  if (AgentError.is(reason) && reason.code === "aborted") return reason;
  return new AbortedError(undefined, { cause: reason });
}
