/**
 * The errors of replies from models that are no HTTP service.
 *
 * @module
 */

import { AgentError, getErrorMessage, StreamError } from "../errors/errors.ts";
import { redact } from "../text/redact.ts";
import { redactError } from "./redact_event.ts";
import type { StreamRequest } from "./stream.ts";

/** Returns what was thrown during a reply as an error of its model, without the key of the request. */
export function toReplyError(thrown: unknown, { model, options }: StreamRequest): AgentError {
  const { provider, modelId } = model;
  const hideKey = (text: string) => redact(text, [options.apiKey ?? ""]);
  if (AgentError.is(thrown)) return redactError(thrown, hideKey);
  const message = hideKey(`The model ${modelId} failed: ${getErrorMessage(thrown)}`);
  return new StreamError(message, { provider, model: modelId, cause: thrown });
}
