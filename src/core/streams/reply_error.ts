/**
 * The errors of replies from models that are no HTTP service.
 *
 * @module
 */

import { AgentError, getErrorMessage, StreamError } from "../errors/errors.ts";
import { redact } from "../text/redact.ts";
import type { StreamRequest } from "./stream.ts";

/** Returns what was thrown during a reply as an error of its model, without the key of the request. */
export function toReplyError(thrown: unknown, { model, options }: StreamRequest): AgentError {
  const { provider, modelId } = model;
  if (AgentError.is(thrown)) return redactError(thrown, options.apiKey);
  const message = redact(`The model ${modelId} failed: ${getErrorMessage(thrown)}`, [
    options.apiKey ?? "",
  ]);
  return new StreamError(message, { provider, model: modelId, cause: thrown });
}

/** A key of the request may be part of an error of `fetch`. */
function redactError(error: AgentError, apiKey = ""): AgentError {
  const message = redact(error.message, [apiKey]);
  if (message === error.message) return error;
  const { cause: _cause, ...record } = error.toJSON();
  return AgentError.from({ ...record, message });
}
