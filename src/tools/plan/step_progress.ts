/**
 * The progress of a plan: its steps are done one after the other, in order.
 *
 * @module
 */

import type { PlanStepState } from "../../core/sessions/session_entry.ts";
import { STATE_NAMES } from "./state_mark.ts";

/** A change of a step's state. */
export interface StepChange {
  /** Index of the step, from 0. */
  readonly step: number;
  /** The new state. */
  readonly state: Exclude<PlanStepState, "pending">;
  /** Comment; required for a step that has failed. */
  readonly note?: string | undefined;
}

/** The effect of a change; `refused` has the reason and what to do instead, for the model. */
export type StepUpdate =
  | { readonly type: "changed" }
  | { readonly type: "unchanged" }
  | { readonly type: "refused"; readonly reason: string };

/** The states of the steps of a plan. */
export class StepProgress {
  readonly #states: PlanStepState[];

  /** Creates a progress. */
  constructor(states: readonly PlanStepState[]) {
    this.#states = [...states];
  }

  /** The states, by the index of the step. */
  get states(): readonly PlanStepState[] {
    return [...this.#states];
  }

  /** Index of the first step that is not done; `undefined` if all are. */
  get current(): number | undefined {
    const index = this.#states.findIndex((state) => state !== "complete");
    return index < 0 ? undefined : index;
  }

  /** Returns the state of a step. */
  getState(step: number): PlanStepState {
    return this.#states[step] ?? "pending";
  }

  /** Changes the state of a step. */
  update(change: StepChange): StepUpdate {
    const reason = this.#findReason(change);
    if (reason !== undefined) return { type: "refused", reason };
    if (this.getState(change.step) === change.state) return { type: "unchanged" };
    this.#states[change.step] = change.state;
    return { type: "changed" };
  }

  /** Returns the reason why a change is not possible; `undefined` if it is. */
  #findReason({ step, state, note = "" }: StepChange): string | undefined {
    const { length } = this.#states;
    if (!Number.isInteger(step) || step < 0 || step >= length) {
      return `The plan has no step ${step + 1}: its steps are 1 to ${length}`;
    }
    const { current } = this;
    if (this.getState(step) === "complete") {
      if (state === "complete") return undefined;
      return `Step ${step + 1} is done and stays so${formatNext(current)}`;
    }
    if (step !== current) {
      return `Step ${step + 1} comes after step ${(current ?? 0) + 1}, which is ${
        STATE_NAMES[this.getState(current ?? 0)]
      }: do the steps in order`;
    }
    if (state === "complete" && this.getState(step) !== "in_progress") {
      return `Step ${step + 1} was not started: set it to in_progress first`;
    }
    if (state === "failed" && note.trim() === "") return "A step that has failed needs a note";
    return undefined;
  }
}

function formatNext(current: number | undefined): string {
  return current === undefined ? "" : `: continue with step ${current + 1}`;
}
