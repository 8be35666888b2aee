/**
 * The entry of the end of a run.
 *
 * @module
 */

import type { AgentEndEvent } from "../../core/event.ts";
import type { RunEndedEntry } from "../../core/session_entry.ts";

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
