/**
 * The steps of a plan that an agent writes and carries out.
 *
 * @module
 */

import type { CustomEvent } from "../../core/events/event.ts";
import { toPlanEntry } from "../../core/sessions/plan_entry.ts";
import type { PlanStepState } from "../../core/sessions/session_entry.ts";
import type { AcpPlanEntry } from "./acp_update.ts";

/** The protocol has no failed step; one that has failed must still be done. */
const STATUS: Readonly<Record<PlanStepState, AcpPlanEntry["status"]>> = {
  pending: "pending",
  in_progress: "in_progress",
  complete: "completed",
  failed: "pending",
};

/** Follows the steps of the last plan. */
export class PlanSteps {
  #entries: readonly AcpPlanEntry[] = [];

  /** Returns the steps after an event; `undefined` if it does not change them. */
  update(event: CustomEvent): AcpPlanEntry[] | undefined {
    const entry = toPlanEntry(event);
    switch (entry?.type) {
      case "plan_created":
        this.#entries = entry.steps.map((content) => ({
          content,
          priority: "medium",
          status: "pending",
        }));
        break;
      case "plan_step": {
        const { step, state } = entry;
        this.#entries = this.#entries.map((known, index) =>
          index === step ? { ...known, status: STATUS[state] } : known
        );
        break;
      }
      case "plan_mode":
      case undefined:
        return undefined;
    }
    return this.#entries.map((entry) => ({ ...entry }));
  }
}
