/**
 * The states of runs as DBOS names them.
 *
 * @module
 */

import type { DurableStatus } from "../../core/durable/durable_engine.ts";
import { parseOutcome } from "../engine/run_outcome.ts";
import type { DbosStatus } from "./npm_packages.ts";

/** Returns the state of a run. DBOS has recorded the outcome of one that has ended by itself. */
export function toDurableStatus({ status, output }: DbosStatus): DurableStatus {
  switch (status) {
    case "SUCCESS":
      return parseOutcome(output).type;
    case "CANCELLED":
      return "aborted";
    case "ERROR":
    case "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
      return "failed";
    default:
      return "running";
  }
}
