/**
 * The entry of the end of a run.
 *
 * @module
 */

import type { RunOutcome } from "../events/event.ts";
import type { RunEndedEntry } from "./session_entry.ts";

/** Creates the entry for the end of a run. */
export function createRunEndedEntry(
  { stopReason, error, stoppedBy }: Pick<RunOutcome, "stopReason" | "error" | "stoppedBy">,
): RunEndedEntry {
  return {
    type: "run_ended",
    stopReason,
    ...(error && { error: error.toJSON() }),
    ...(stoppedBy && { stoppedBy }),
  };
}
