/**
 * The entries of a plan.
 *
 * @module
 */

import type { SessionEntryBody } from "../../core/sessions/session_entry.ts";
import type { ResumedPlan } from "./session_state.ts";

/** Returns the entries that record a plan with the states of its steps. */
export function listPlanEntries({ steps, ...plan }: ResumedPlan): readonly SessionEntryBody[] {
  const states = steps.flatMap(({ state }, step): SessionEntryBody[] =>
    state === "pending" ? [] : [{ type: "plan_step", step, state }]
  );
  return [
    { type: "plan_created", ...plan, steps: steps.map(({ step }) => step) },
    ...states,
  ];
}
