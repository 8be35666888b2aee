/**
 * Parses plan files.
 *
 * @module
 */

import { findHidden } from "./hidden_characters.ts";
import { type MarkdownLine, readMarkdown, toOneLine } from "./markdown_lines.ts";
import { type Plan, PLAN_LIMITS, type PlanProblem, type PlanStep } from "./plan.ts";
import { getText, type PlanBlock, splitPlan } from "./plan_blocks.ts";

/** The plan of a text, or the reasons why it has none. */
export type ParsedPlan =
  | { readonly type: "plan"; readonly plan: Plan }
  | { readonly type: "invalid"; readonly problems: readonly PlanProblem[] };

/**
 * Parses a plan file: Markdown with a title and numbered steps. A person may add other sections and texts everywhere.
 *
 * @example
 * ```ts
 * import { parsePlan } from "@swink/agent/plan";
 *
 * const text = `# Faster start
 *
 * ## 1. Load the parser on first use
 *
 * Import it when the first file is opened.
 *
 * ### Files
 *
 * - src/parser.ts
 *
 * ### Acceptance criteria
 *
 * - The program starts in 50 ms.
 * `;
 * const parsed = parsePlan(text);
 * if (parsed.type === "plan") parsed.plan.steps[0]?.files; // ["src/parser.ts"]
 * ```
 */
export function parsePlan(text: string): ParsedPlan {
  const unreadable = findUnreadable(text);
  if (unreadable) return { type: "invalid", problems: [unreadable] };
  const blocks = splitPlan(text);
  const title = blocks.find(({ type }) => type === "title");
  const steps = blocks.filter(({ type }) => type === "step");
  const problems = [...checkTitle(title), ...checkSteps(steps)];
  if (!title || problems.length > 0) return { type: "invalid", problems };
  const plan: Plan = {
    title: title.heading,
    context: joinLines(title.lines.slice(1)),
    steps: steps.map(parseStep),
  };
  return { type: "plan", plan };
}

/** Formats problems, one a line: `line 3: the step has no text in its heading`. */
export function formatProblems(problems: readonly PlanProblem[]): string {
  return problems.map(({ line, message }) => `line ${line}: ${message}`).join("\n");
}

/** Returns the reason why a text cannot be divided into blocks that a reviewer sees; `undefined` if there is none. */
export function findUnreadable(text: string): PlanProblem | undefined {
  if (text.length > PLAN_LIMITS.bytes) {
    return { line: 1, message: `the plan is larger than ${PLAN_LIMITS.bytes} bytes: shorten it` };
  }
  const hidden = findHidden(text);
  if (hidden) {
    const line = text.slice(0, hidden.index).split("\n").length;
    return { line, message: `the character ${hidden.name} is not visible: remove it` };
  }
  const { unclosed } = readMarkdown(text);
  if (!unclosed) return undefined;
  const { type, line, closing } = unclosed;
  const name = type === "code" ? "code block" : "comment";
  return { line, message: `the ${name} is never closed: add a line ${closing}` };
}

function checkTitle(title: PlanBlock | undefined): PlanProblem[] {
  if (!title) return [{ line: 1, message: "the plan has no title: add a heading such as # Title" }];
  return checkHeading(title, "title");
}

function checkSteps(steps: readonly PlanBlock[]): PlanProblem[] {
  const message = "the plan has no steps: add a heading such as ## 1. First step";
  if (steps.length === 0) return [{ line: 1, message }];
  const excess = steps[PLAN_LIMITS.steps];
  if (excess) {
    return [{
      line: excess.line,
      message: `the plan has more than ${PLAN_LIMITS.steps} steps: join steps`,
    }];
  }
  return steps.flatMap((step) => checkHeading(step, "step"));
}

function checkHeading({ heading, line }: PlanBlock, name: string): PlanProblem[] {
  if (heading === "") {
    const example = name === "title" ? "# Title" : "## 1. First step";
    return [{ line, message: `the ${name} has no text in its heading: write ${example}` }];
  }
  if (heading.length <= PLAN_LIMITS.title) return [];
  const message =
    `the heading of the ${name} is longer than ${PLAN_LIMITS.title} characters: shorten it`;
  return [{ line, message }];
}

/** The lists of a step, by the heading of level 3 above them. */
const LISTS: readonly { readonly name: "files" | "criteria"; readonly heading: RegExp }[] = [
  { name: "files", heading: /^files?:?$/i },
  { name: "criteria", heading: /^(?:acceptance )?criteria:?$/i },
];

function parseStep({ heading, state = "pending", lines }: PlanBlock): PlanStep {
  const description: MarkdownLine[][] = [];
  const lists: Record<"files" | "criteria", string[][]> = { files: [], criteria: [] };
  for (const part of splitAtHeadings(lines.slice(1))) {
    const [first] = part;
    const list = LISTS.find((list) =>
      first?.heading?.level === 3 && list.heading.test(first.heading.text)
    );
    if (list) lists[list.name].push(parseList(part.slice(1)));
    else description.push(part);
  }
  return {
    title: heading,
    state,
    description: joinLines(description.flat()),
    files: lists.files.flat().map(removeCodeMarks),
    criteria: lists.criteria.flat(),
  };
}

/** Splits lines so that each part but the first begins with a heading. */
function splitAtHeadings(lines: readonly MarkdownLine[]): MarkdownLine[][] {
  const parts: MarkdownLine[][] = [[]];
  for (const line of lines) {
    if (line.heading) parts.push([line]);
    else parts.at(-1)?.push(line);
  }
  return parts;
}

const BULLET = /^ ?(?:[-*+]|\d{1,9}[.)])[ \t]+/;
const CHECKBOX = /^(?:\[[ xX]\] )+/;

/** Returns the items of a list; a paragraph is an item too. */
function parseList(lines: readonly MarkdownLine[]): string[] {
  const items: string[] = [];
  let isAfterBlank = true;
  for (const { text, block } of lines) {
    if (block === "comment") continue;
    const isBlank = text.trim() === "";
    const isBullet = block === undefined && BULLET.test(text);
    if (isBullet || (isAfterBlank && !isBlank && !/^\s/.test(text))) {
      items.push(isBullet ? text.replace(BULLET, "") : text);
    } else if (!isBlank) {
      items.push(`${items.pop() ?? ""} ${text}`);
    }
    isAfterBlank = isBlank;
  }
  return items.map(toListItem).filter((item) => item !== "");
}

/** Returns an item in one line, without the boxes of a check list. */
export function toListItem(text: string): string {
  return toOneLine(text).replace(CHECKBOX, "");
}

/** Returns the path in `code marks`. */
export function removeCodeMarks(item: string): string {
  return item.replace(/^`((?! )[^`]+(?<! ))`$/s, "$1");
}

/** Joins lines without the blank ones at both ends, with `\n` as line ending. */
function joinLines(lines: readonly MarkdownLine[]): string {
  return trimBlankLines(getText({ lines }).replaceAll("\r\n", "\n"));
}

/** Removes blank lines at both ends, and blanks after the last line. */
export function trimBlankLines(text: string): string {
  const body = text.replace(/^(?:[ \t]*\r?\n)+/, "");
  let end = body.length;
  // Other white space is text: without it, the rest of its line could become a heading.
  while (" \t\r\n".includes(body.charAt(end - 1)) && end > 0) end--;
  return body.slice(0, end);
}
