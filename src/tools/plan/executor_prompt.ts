/**
 * The texts for the executor of a plan.
 *
 * @module
 */

import { numberSteps } from "./format_plan.ts";
import { STATE_NAMES } from "./state_mark.ts";
import type { StepProgress } from "./step_progress.ts";
import { setStates } from "./step_state.ts";

/** Instructions that follow the system prompt of the executor. */
export const EXECUTOR_INSTRUCTIONS = "You execute a plan that a person has approved. " +
  "Do its steps in order, one at a time, and nothing that is not in it. " +
  "Set a step to in_progress with update_step before you begin it, and to done only when all its acceptance criteria " +
  "are met, which you check. If a step cannot be done as it is written, set it to failed with the reason as note and " +
  "end: a person then changes the plan. " +
  "When all steps are done, end with a short report.";

/** A plan and its progress. */
export interface PlanInProgress {
  /** The text that was approved. */
  readonly text: string;
  /** The titles of the steps, in order. */
  readonly titles: readonly string[];
  /** The states of the steps. */
  readonly progress: StepProgress;
}

/** Creates the first prompt: the complete plan, with the numbers that `update_step` uses and the current states. */
export function createTask({ text, progress }: PlanInProgress): string {
  const plan = numberSteps(setStates(text, progress.states));
  return `Execute this plan.\n\n${plan.trimEnd()}`;
}

/** Creates the result of an update: the next action. */
export function createNotice(plan: PlanInProgress): string {
  const { current } = plan.progress;
  if (current === undefined) return "All steps are done: end with a short report.";
  const isFailed = plan.progress.getState(current) === "failed";
  return `${describeStep(plan, current)}${isFailed ? ": end with a short report." : "."}`;
}

/** Creates the prompt that continues with the first step that is not done, also if it has failed before. */
export function createReminder(plan: PlanInProgress): string {
  const { current = 0 } = plan.progress;
  return `Continue with the plan. ${describeStep(plan, current)}.`;
}

function describeStep({ titles, progress }: PlanInProgress, step: number): string {
  const state = STATE_NAMES[progress.getState(step)];
  return `Step ${step + 1} of ${titles.length}, "${titles[step]}", is ${state}`;
}
