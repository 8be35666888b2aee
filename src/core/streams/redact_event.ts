/**
 * Removes secrets from the events of a reply.
 *
 * @module
 */

import { AgentError } from "../errors/errors.ts";
import type { AssistantMessageEvent } from "./stream.ts";

/** Removes secrets from the messages of warnings and errors, which may quote the provider. */
export function redactEvent(
  event: AssistantMessageEvent,
  redact: (text: string) => string,
): AssistantMessageEvent {
  switch (event.type) {
    case "warning":
      return { ...event, message: redact(event.message) };
    case "error":
      return { ...event, error: redactError(event.error, redact) };
    default:
      return event;
  }
}

/** Returns an error without secrets; a cause whose message may contain one is left out. */
export function redactError(error: AgentError, redact: (text: string) => string): AgentError {
  const message = redact(error.message);
  if (message === error.message) return error;
  const { cause: _cause, ...record } = error.toJSON();
  return AgentError.from({ ...record, message });
}
