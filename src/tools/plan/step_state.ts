/**
 * The states of steps, as marks in the headings of a plan file: `## 2. [in progress] Add the parser`.
 *
 * @module
 */

import type { PlanStepState } from "../../core/sessions/session_entry.ts";
import { getText, splitPlan } from "./plan_blocks.ts";
import { formatMark, readMarks, splitHeading } from "./state_mark.ts";

/** Writes the states of the steps into the text of a plan, by position; all other text stays. */
export function setStates(text: string, states: readonly PlanStepState[]): string {
  return replaceMarks(text, (step) => states[step] ?? "pending");
}

/** Removes the states of the steps from the text of a plan; all other text stays. */
export function clearStates(text: string): string {
  return replaceMarks(text, () => "pending");
}

function replaceMarks(text: string, getState: (step: number) => PlanStepState): string {
  let steps = 0;
  return splitPlan(text).map((block) => {
    if (block.type !== "step") return getText(block);
    const [first, ...rest] = block.lines;
    return setMark(first?.text ?? "", getState(steps++)) + getText({ lines: rest });
  }).join("");
}

function setMark(line: string, state: PlanStepState): string {
  const [ending = ""] = /\r?\n$/.exec(line) ?? [];
  const { number, rest } = splitHeading(line.slice(0, line.length - ending.length));
  const { indent, title } = readMarks(rest);
  // A step without a title is a problem of the plan, and stays as it is.
  return title === "" ? line : `${number}${indent}${formatMark(state)}${title}${ending}`;
}
