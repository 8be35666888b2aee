/**
 * The progress of a plan, as lines.
 *
 * @module
 */

import type { AgentEvent } from "../../../mod.ts";
import { toPlanEntry } from "../../../src/core/sessions/plan_entry.ts";
import type { Line } from "../../render/line/line.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import type { Role } from "../../render/theme/role.ts";
import { pluralize } from "../../render/tool_line.ts";
import { toLine } from "../view/lines.ts";

type CustomEvent = Extract<AgentEvent, { type: "custom" }>;
type StepEntry = Extract<NonNullable<ReturnType<typeof toPlanEntry>>, { type: "plan_step" }>;

/** The states of steps in words, with their colors. */
const STATES: Readonly<Record<StepEntry["state"], { readonly text: string; readonly role: Role }>> =
  {
    pending: { text: "open", role: "faint" },
    in_progress: { text: "in progress", role: "plan" },
    complete: { text: "done", role: "success" },
    failed: { text: "failed", role: "error" },
  };

/** Shows when a plan was written, and the states of its steps while it is carried out. */
export class PlanProgress {
  #steps: readonly string[] = [];

  /** Returns the lines for an event; none for one that is not about a plan. */
  formatEvent(event: CustomEvent): Line[] {
    const entry = toPlanEntry(event);
    switch (entry?.type) {
      case "plan_created":
        this.#steps = entry.steps;
        if (entry.approvedHash !== undefined) return [];
        return [
          toLine(
            `The plan has ${
              pluralize(entry.steps.length, "step")
            }: /execute carries it out, /edit-plan changes it`,
            "plan",
          ),
        ];
      case "plan_step":
        return [this.#formatStep(entry)];
      default:
        return [];
    }
  }

  #formatStep({ step, state, note }: StepEntry): Line {
    const { text, role } = STATES[state];
    const title = toOneLine(toPlainText(this.#steps[step] ?? ""));
    const comment = note === undefined ? "" : ` · ${toOneLine(toPlainText(note))}`;
    return [
      { text: `step ${step + 1} of ${this.#steps.length} ${text}`, role },
      { text: `: ${title}${comment}` },
    ];
  }
}
