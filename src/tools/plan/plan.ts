/**
 * Plans: a title, a context and steps.
 *
 * @module
 */

import type { PlanStepState } from "../../core/sessions/session_entry.ts";

/** A step of a plan. */
export interface PlanStep {
  /** Title, one line. */
  readonly title: string;
  /** Progress. */
  readonly state: PlanStepState;
  /** Description, as Markdown; may be empty. */
  readonly description: string;
  /** Paths of the files that the step reads or changes. */
  readonly files: readonly string[];
  /** Conditions that hold when the step is complete. */
  readonly criteria: readonly string[];
}

/** A plan. */
export interface Plan {
  /** Title, one line. */
  readonly title: string;
  /** The goal, the findings and the decisions: the text between the title and the first section, as Markdown; may be empty. */
  readonly context: string;
  /** The steps, in order. */
  readonly steps: readonly PlanStep[];
}

/** A plan as a planner writes it; its steps are open unless they have a state. */
export interface PlanDraft extends Omit<Plan, "steps"> {
  /** The steps, in order. */
  readonly steps: readonly (Omit<PlanStep, "state"> & Partial<Pick<PlanStep, "state">>)[];
}

/** Limits of plans. */
export const PLAN_LIMITS = {
  /** Size of a plan file, in bytes. */
  bytes: 256 * 1024,
  /** Number of steps. */
  steps: 500,
  /** Length of a title, in UTF-16 code units. */
  title: 300,
} as const;

/** A reason why a text is no plan. */
export interface PlanProblem {
  /** Number of the line, from 1. */
  readonly line: number;
  /** The reason and the correction, as a sentence without a period. */
  readonly message: string;
}
