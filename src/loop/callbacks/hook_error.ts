/**
 * Errors that hooks throw.
 *
 * @module
 */

import { AgentError, getErrorMessage, StreamError } from "../../core/errors/errors.ts";

/**
 * Returns an {@linkcode AgentError} unchanged; wraps anything else in a {@linkcode StreamError} that names the hook.
 */
export function toHookError(hook: string, thrown: unknown): AgentError {
  if (AgentError.is(thrown)) return thrown;
  return new StreamError(`${hook} failed: ${getErrorMessage(thrown)}`, { cause: thrown });
}
