/**
 * Writes plan files.
 *
 * @module
 */

import { removeHidden } from "./hidden_characters.ts";
import { readMarkdown, removeClosingMarks, toOneLine } from "./markdown_lines.ts";
import { removeCodeMarks, toListItem, trimBlankLines } from "./parse_plan.ts";
import type { Plan, PlanDraft, PlanStep } from "./plan.ts";
import { getText, splitPlan } from "./plan_blocks.ts";
import { formatMark, readMarks } from "./state_mark.ts";

/**
 * Writes a plan as Markdown, which `parsePlan()` reads as the same plan if it comes from there or from
 * `normalizePlan()`.
 */
export function formatPlan(plan: Plan): string {
  return joinParts([formatTitle(plan), ...plan.steps.map(formatStep)]);
}

/**
 * Replaces the plan in the text of a file: its title, context and steps. The text before the title and the sections
 * that are no steps stay, each after the same number of steps as before.
 */
export function replacePlan(text: string, plan: Plan): string {
  const preamble: string[] = [];
  const parts = [formatTitle(plan), ...plan.steps.map(formatStep)].map((part) => [part]);
  let steps = 0;
  for (const block of splitPlan(text)) {
    if (block.type === "step") steps++;
    if (block.type === "preamble") preamble.push(getText(block));
    if (block.type === "section") parts[Math.min(steps, plan.steps.length)]?.push(getText(block));
  }
  return joinParts([...preamble, ...parts.flat()]);
}

/** Numbers the steps of a plan file from 1, as the tools count them; all other text stays. */
export function numberSteps(text: string): string {
  let steps = 0;
  return splitPlan(text).map((block) => {
    if (block.type !== "step") return getText(block);
    const [first, ...rest] = block.lines;
    const [ending = ""] = /\r?\n$/.exec(first?.text ?? "") ?? [];
    const mark = formatMark(block.state ?? "pending");
    return `## ${++steps}. ${mark}${block.heading}${ending}${getText({ lines: rest })}`;
  }).join("");
}

/**
 * Returns a plan in the form of `parsePlan()`: titles and list items in one line, headings in texts below those of the plan,
 * code blocks and comments closed, and no characters that a reviewer does not see.
 */
export function normalizePlan({ title, context, steps }: PlanDraft): Plan {
  return {
    title: normalizeTitle(title),
    context: normalizeText(context, 3),
    steps: steps.map((step) => ({
      title: normalizeStepTitle(step.title),
      state: step.state ?? "pending",
      description: normalizeText(step.description, 4),
      files: step.files.map((file) => normalizeFile(toOneLine(removeHidden(file)))).filter(
        isPresent,
      ),
      criteria: normalizeItems(step.criteria),
    })),
  };
}

function formatTitle({ title, context }: Plan): string {
  return joinParts([`# ${title}`, context]);
}

function formatStep(
  { title, state, description, files, criteria }: PlanStep,
  index: number,
): string {
  return joinParts([
    `## ${index + 1}. ${formatMark(state)}${title}`,
    description,
    ...formatList("Files", files.map((file) => file.includes("`") ? file : `\`${file}\``)),
    ...formatList("Acceptance criteria", criteria),
  ]);
}

function formatList(heading: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  return [`### ${heading}`, items.map((item) => `- ${item}`).join("\n")];
}

/** Joins parts with blank lines between them. */
function joinParts(parts: readonly string[]): string {
  const texts = parts.map(trimBlankLines).filter((text) => text !== "");
  return `${texts.join("\n\n")}\n`;
}

function normalizeTitle(title: string): string {
  return removeClosingMarks(toOneLine(removeHidden(title)));
}

/** Removes what would be a state, or the end of the heading, also where one appears behind the other. */
function normalizeStepTitle(title: string): string {
  let before = title;
  while (true) {
    const normalized = readMarks(normalizeTitle(before)).title;
    if (normalized === before) return normalized;
    before = normalized;
  }
}

function normalizeItems(items: readonly string[]): string[] {
  return items.map((item) => toListItem(removeHidden(item))).filter(isPresent);
}

/** Returns a path without code marks. One without any is written between code marks, where it may have any form. */
function normalizeFile(file: string): string {
  let before = file;
  while (before.includes("`")) {
    const normalized = removeCodeMarks(toListItem(before));
    if (normalized === before) break;
    before = normalized;
  }
  return before;
}

function isPresent(text: string): boolean {
  return text !== "";
}

/** Closes the last block of a text, and moves its headings down to a level. */
function normalizeText(text: string, level: number): string {
  const { lines, unclosed } = readMarkdown(trimBlankLines(removeHidden(text)));
  const marks = "#".repeat(level);
  const moved = lines.map(({ text, heading }) =>
    heading && heading.level < level ? text.replace(/^( *)#+/, `$1${marks}`) : text
  );
  return trimBlankLines([...moved, ...(unclosed ? ["\n", unclosed.closing] : [])].join(""));
}
