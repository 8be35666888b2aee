/**
 * The texts of errors for clients.
 *
 * @module
 */

import { AgentError, getErrorMessage } from "../../core/errors/errors.ts";
import { refusePromise } from "../../core/errors/refuse_promise.ts";

/** Returns the text of an error. The details of one of the application are not meant for a client: it gets `other`. */
export function describeError(
  error: unknown,
  other: string,
  onError: (error: unknown) => string = (error) =>
    AgentError.is(error) ? getErrorMessage(error) : other,
): string {
  try {
    const text: unknown = onError(error);
    refusePromise(text, "onError()");
    return typeof text === "string" ? text : other;
  } catch {
    return other;
  }
}
