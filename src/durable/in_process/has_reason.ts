/**
 * Distinguishes the errors of session stores.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";

/** Whether an error is that of a session store, with a reason. */
export function hasReason(error: unknown, reason: SessionError["reason"]): boolean {
  return error instanceof SessionError && error.reason === reason;
}
