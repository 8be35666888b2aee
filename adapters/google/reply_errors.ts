/**
 * Errors of replies of Google that ended early.
 *
 * @module
 */

import {
  type AgentError,
  ContentFilteredError,
  StreamError,
} from "../../src/core/errors/errors.ts";
import { textOrEmpty } from "../kit/stream/wire_values.ts";
import type { WireChunk } from "./wire.ts";

/** Why a reply ended, in the provider's words. */
export interface FinishDetails {
  readonly reason: string;
  /** Explanation of the reason; usually empty. */
  readonly message: string;
}

/** Creates the error of a filtered reply. */
export function createFilterError(provider: string, details: FinishDetails): AgentError {
  const message = `${provider} filtered the reply: ${describe(details)}`;
  return new ContentFilteredError(message, { provider });
}

/** Creates the error of malformed output, with which a retry may succeed, or of another incomplete reply. */
export function createOutputError(
  provider: string,
  details: FinishDetails,
  { retryable }: { readonly retryable: boolean },
): AgentError {
  const message = `${provider} ended the reply early: ${describe(details)}`;
  return new StreamError(message, { provider, retryable });
}

/**
 * Creates the error of a reply without text and without calls. Gemini models end some replies so, as after a result of a
 * tool, although they are not done; the next attempt usually has content.
 */
export function createEmptyReplyError(provider: string): AgentError {
  return new StreamError(`${provider}: the reply is empty: continue, or prompt in other words`, {
    provider,
    retryable: true,
  });
}

/** Returns the error of a chunk that reports a blocked prompt. */
export function findBlockedError(
  provider: string,
  { promptFeedback }: WireChunk,
): AgentError | undefined {
  const reason = textOrEmpty(promptFeedback?.blockReason);
  if (reason === "") return undefined;
  const details = textOrEmpty(promptFeedback?.blockReasonMessage);
  const message = `${provider} blocked the prompt: ${reason}${details && `, ${details}`}`;
  return new ContentFilteredError(message, { provider });
}

function describe({ reason, message }: FinishDetails): string {
  const name = reason.toUpperCase();
  return message === "" ? name : `${name}, ${message}`;
}
