/**
 * Failures of a storage of events that does not answer.
 *
 * @module
 */

import { AgentError } from "../../core/errors/errors.ts";

/** Whether a call has failed since the storage cannot be reached, so that the same call succeeds when it is back. */
export function isUnreachable(error: unknown): boolean {
  return AgentError.is(error) && error.code === "network_error";
}
