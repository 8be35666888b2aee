/**
 * The models of errors.
 *
 * @module
 */

import { type AgentError, ContextWindowOverflowError } from "./errors.ts";

/** Returns a context overflow with the model that it belongs to; any other error is returned unchanged. */
export function withModel(
  error: AgentError,
  { provider, modelId }: { readonly provider: string; readonly modelId: string },
): AgentError {
  if (error.code !== "context_window_overflow" || error.model !== undefined) return error;
  const { message, retryable, status, requestId, cause } = error;
  const attributes = { retryable, status, requestId, cause };
  return new ContextWindowOverflowError(message, { ...attributes, provider, model: modelId });
}
