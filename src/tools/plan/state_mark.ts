/**
 * The mark of a step's state: `[done]` before its title.
 *
 * @module
 */

import type { PlanStepState } from "../../core/sessions/session_entry.ts";

/** The names of the states in plan files, as the model and a person write them. */
export const STATE_NAMES: Readonly<Record<PlanStepState, string>> = {
  pending: "open",
  in_progress: "in progress",
  complete: "done",
  failed: "failed",
};

/** Marks by their text, in lower case. */
const STATES: Readonly<Record<string, PlanStepState>> = {
  "": "pending",
  open: "pending",
  pending: "pending",
  "in progress": "in_progress",
  in_progress: "in_progress",
  x: "complete",
  done: "complete",
  complete: "complete",
  failed: "failed",
};

const MARK = /\[([^\[\]]{0,20})\](?:\s+|$)/y;

/** A title with the marks before it. */
export interface MarkedTitle {
  /** The first mark; `"pending"` if there is none. */
  readonly state: PlanStepState;
  /** The blanks before the marks. */
  readonly indent: string;
  /** The text after the marks. */
  readonly title: string;
}

/** Reads the marks before a title, of which the first one counts. */
export function readMarks(text: string): MarkedTitle {
  const [indent = ""] = /^\s*/.exec(text) ?? [];
  const states: PlanStepState[] = [];
  let end = indent.length;
  while (true) {
    MARK.lastIndex = end;
    const [mark = "", name] = MARK.exec(text) ?? [];
    const state = name === undefined ? undefined : findState(name);
    if (!state) break;
    states.push(state);
    end += mark.length;
  }
  return { state: states[0] ?? "pending", indent, title: text.slice(end) };
}

function findState(name: string): PlanStepState | undefined {
  const key = name.replace(/\s+/g, " ").trim().toLowerCase();
  return Object.hasOwn(STATES, key) ? STATES[key] : undefined;
}

/** Formats a mark with a blank; empty for an open step. */
export function formatMark(state: PlanStepState): string {
  return state === "pending" ? "" : `[${STATE_NAMES[state]}] `;
}

const STEP_LINE = /^( {0,3}##[ \t]\s*(?:step\s+\d+(?:\s*[.:)–—-])?|\d+\s*[.:)]))(?=\s|$)(.*)$/is;

/** Splits the line of a step's heading after its number. */
export function splitHeading(line: string): { readonly number: string; readonly rest: string } {
  const [, number = line, rest = ""] = STEP_LINE.exec(line) ?? [];
  return { number, rest };
}
