/**
 * The entry of the end of a run.
 *
 * @module
 */

import type { AgentEndEvent } from "../../core/events/event.ts";
import type { RunEndedEntry } from "../../core/sessions/session_entry.ts";

/** Creates the entry for the end of a run. */
export function createRunEndedEntry(
  { stopReason, error, stoppedBy }: AgentEndEvent,
): RunEndedEntry {
  return {
    type: "run_ended",
    stopReason,
    ...(error && { error: error.toJSON() }),
    ...(stoppedBy && { stoppedBy }),
  };
}
