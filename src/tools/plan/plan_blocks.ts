/**
 * The blocks of a plan file: the title, the steps, and all that a person has added. Joined, they are the file.
 *
 * @module
 */

import type { PlanStepState } from "../../core/sessions/session_entry.ts";
import { type MarkdownHeading, type MarkdownLine, readMarkdown } from "./markdown_lines.ts";
import { readMarks } from "./state_mark.ts";

/**
 * A part of the file. `preamble`: the text before the first heading. `title`: the first heading of level 1, and the
 * context. `step`: a heading of level 2 with a number, such as `## 1. Add the parser`. `section`: any other heading of
 * level 1 or 2.
 */
export interface PlanBlock {
  readonly type: "preamble" | "title" | "step" | "section";
  /** Text of the heading, without the number and the state of a step; empty for the preamble. */
  readonly heading: string;
  /** The state of a step; missing for other parts. */
  readonly state?: PlanStepState;
  /** Number of its first line, from 1. */
  readonly line: number;
  /** Its lines, with the heading. */
  readonly lines: readonly MarkdownLine[];
}

const STEP = /^(?:step \d+ ?[.:)–—-]?|\d+ ?[.:)])(?: (.*))?$/is;

/** Splits a text into blocks. */
export function splitPlan(text: string): PlanBlock[] {
  const { lines } = readMarkdown(text);
  const starts = lines.flatMap(({ heading }, index) =>
    heading && heading.level <= 2 ? [{ index, heading }] : []
  );
  const title = starts.find(({ heading }) => heading.level === 1);
  const blocks = starts.map(({ index, heading }, position): PlanBlock => ({
    ...(title?.index === index ? { type: "title", heading: heading.text } : classify(heading)),
    line: index + 1,
    lines: lines.slice(index, starts[position + 1]?.index),
  }));
  const preamble = lines.slice(0, starts[0]?.index);
  if (preamble.length === 0) return blocks;
  return [{ type: "preamble", heading: "", line: 1, lines: preamble }, ...blocks];
}

function classify({ level, text }: MarkdownHeading): Pick<PlanBlock, "type" | "heading" | "state"> {
  const match = level === 2 ? STEP.exec(text) : null;
  if (!match) return { type: "section", heading: text };
  const { state, title } = readMarks(match[1] ?? "");
  return { type: "step", heading: title, state };
}

/** Joins the lines of a block. */
export function getText({ lines }: Pick<PlanBlock, "lines">): string {
  return lines.map(({ text }) => text).join("");
}
