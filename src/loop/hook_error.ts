/**
 * What a hook threw, as an error of the tree.
 *
 * @module
 */

import { AgentError, getErrorMessage, StreamError } from "../core/errors.ts";

/** An {@linkcode AgentError} stays what it is; anything else becomes a {@linkcode StreamError} that names the hook. */
export function toHookError(hook: string, thrown: unknown): AgentError {
  if (AgentError.is(thrown)) return thrown;
  return new StreamError(`${hook} failed: ${getErrorMessage(thrown)}`, { cause: thrown });
}
