/**
 * Recognition of the block that a line belongs to, from its beginning.
 *
 * @module
 */

import { toOneLine } from "../plain_text.ts";
import type { Container, ContainerStart, ItemStart } from "./container.ts";
import { parseDelimiterRow, splitCells } from "./table_source.ts";

/** The block that a line begins or continues. */
export type LeafStart =
  | { readonly type: "paragraph"; readonly text: string }
  | { readonly type: "heading"; readonly level: number; readonly text: string }
  | { readonly type: "underline"; readonly level: number; readonly text: string }
  | { readonly type: "rule" }
  | { readonly type: "indented_code"; readonly text: string }
  | { readonly type: "pipe_line"; readonly text: string }
  | { readonly type: "delimiter_row"; readonly text: string }
  | { readonly type: "table_row"; readonly text: string }
  | Fence;

/** The opening fence of a code block. */
export interface Fence {
  readonly type: "fence";
  /** Columns before the fence, which are removed from the code. */
  readonly indent: number;
  /** The fence without its language, such as three backticks. */
  readonly marker: string;
  /** Text behind the fence: the language, and options of some tools. */
  readonly label: string;
}

/** The beginning of a line. */
export type LineStart =
  /** More of the line is needed. */
  | { readonly type: "incomplete" }
  /** The line is blank. `matched`: number of containers that continue. */
  | { readonly type: "blank"; readonly matched: number }
  /** The line has content. */
  | {
    readonly type: "content";
    /** Number of containers that continue. */
    readonly matched: number;
    /** Containers that begin. */
    readonly added: readonly ContainerStart[];
    /** The block in the innermost container. */
    readonly leaf: LeafStart;
    /** Whether the line continues a paragraph in containers whose markers it omits. */
    readonly isLazy: boolean;
  };

/** The blocks before the line. */
export interface LineContext {
  /** The open containers. */
  readonly containers: readonly Container[];
  /** The open block that the line may continue. */
  readonly open: "none" | "paragraph" | "piped_table" | "table";
  /** Text of the previous line, if it may be the header of a table. */
  readonly header?: string | undefined;
  /** Whether `line` is the whole line. */
  readonly isComplete: boolean;
}

/** Maximum depth of containers; further markers are text. */
const MAX_DEPTH = 16;

/** Maximum length of the text behind a fence; a longer line is a paragraph. */
const MAX_LABEL = 500;

/** Columns of indented code. */
const CODE_INDENT = 4;

const LIST_MARKER = /^( *)(?:([-*+])|(\d{1,9})([.)]))( +|$)/;
const RULE = /^ *([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const MAYBE_RULE = /^ *([-*_])[ \t]*(?:\1[ \t]*)*$/;
const HEADING = /^ *(#{1,6})(?:[ \t]+(.*))?$/;
const FENCE = /^( *)(`{3,}(?=[^`]*$)|~{3,})(.*)$/;

const incomplete: LineStart = { type: "incomplete" };

/**
 * Recognizes the block of a line by the rules of CommonMark, from as few of its characters as possible. Lists are
 * recognized at any indentation within an item, since models indent them by two or four columns.
 */
export function parseLineStart(line: string, context: LineContext): LineStart {
  const { containers, isComplete, open } = context;
  const { matched, rest } = matchContainers(expandIndent(line), containers);
  if (rest.trim() === "") return isComplete ? { type: "blank", matched } : incomplete;
  const isContinued = matched === containers.length;
  const added: ContainerStart[] = [];
  let text = rest;
  for (;;) {
    const isInItem = (added.at(-1) ?? containers[matched - 1])?.type === "item";
    const mayInterrupt = open !== "paragraph" || !isContinued || added.length > 0;
    const start = matched + added.length < MAX_DEPTH
      ? parseContainer(text, { isInItem, isComplete, mayInterrupt })
      : undefined;
    if (start === "incomplete") return incomplete;
    if (!start) break;
    added.push(start.container);
    text = start.rest;
    if (text.trim() !== "") continue;
    if (!isComplete) return incomplete;
    return { type: "content", matched, added, leaf: paragraph(""), isLazy: false };
  }
  const isInItem = (added.at(-1) ?? containers[matched - 1])?.type === "item";
  const isOpen = isContinued && added.length === 0;
  const isLazy = !isContinued && added.length === 0 && open === "paragraph";
  const leaf = parseLeaf(text, { ...context, isInItem, isOpen, isLazy });
  if (leaf === "incomplete") return incomplete;
  return { type: "content", matched, added, leaf, isLazy: isLazy && leaf.type === "paragraph" };
}

/** Removes the markers of containers that the line continues. */
function matchContainers(
  line: string,
  containers: readonly Container[],
): { readonly matched: number; readonly rest: string } {
  let rest = line;
  let matched = 0;
  for (const container of containers) {
    const next = container.type === "quote" ? matchQuote(rest) : matchItem(rest, container);
    if (next === undefined) break;
    rest = next;
    matched++;
  }
  return { matched, rest };
}

/**
 * Removes the markers of containers and the indentation of a fence from a line of code; returns `undefined` if a quote that
 * contains the code has ended. Code in items may be indented less than the text of the item.
 */
export function removeContainers(
  line: string,
  containers: readonly Container[],
  indent: number,
): string | undefined {
  let rest = line;
  for (const container of containers) {
    const next = container.type === "quote"
      ? matchQuote(rest)
      : removeIndent(rest, container.contentIndent);
    if (next === undefined) return undefined;
    rest = next;
  }
  return removeIndent(rest, indent);
}

function removeIndent(text: string, columns: number): string {
  let rest = text;
  let removed = 0;
  while (removed < columns && /^[ \t]/.test(rest)) {
    removed += rest.startsWith("\t") ? 4 - removed % 4 : 1;
    rest = rest.slice(1);
  }
  return rest;
}

function matchQuote(text: string): string | undefined {
  const [marker] = text.match(/^ {0,3}> ?/) ?? [];
  return marker === undefined ? undefined : text.slice(marker.length);
}

function matchItem(text: string, item: ItemStart): string | undefined {
  const indent = countSpaces(text);
  if (indent === text.length) return "";
  if (indent >= item.contentIndent) return text.slice(item.contentIndent);
  // A list that is indented by two columns below a number is meant to be nested.
  const isNested = indent >= item.markerIndent + 2 && LIST_MARKER.test(text);
  return isNested ? text.slice(indent) : undefined;
}

interface ContainerContext {
  readonly isInItem: boolean;
  readonly isComplete: boolean;
  /** Whether an empty item, or one with another number than 1, may begin. */
  readonly mayInterrupt: boolean;
}

function parseContainer(
  text: string,
  context: ContainerContext,
): { readonly container: ContainerStart; readonly rest: string } | "incomplete" | undefined {
  const quoted = matchQuote(text);
  if (quoted !== undefined) return { container: { type: "quote" }, rest: quoted };
  if (countSpaces(text) >= CODE_INDENT && !context.isInItem) return undefined;
  if (RULE.test(text) && context.isComplete) return undefined;
  if (!context.isComplete && /^ *(?:[-*+]|\d{1,9}[.)]?) *$/.test(text)) return "incomplete";
  if (!context.isComplete && MAYBE_RULE.test(text)) return "incomplete";
  return parseItem(text, context);
}

function parseItem(
  text: string,
  { isComplete, mayInterrupt }: ContainerContext,
): { readonly container: ItemStart; readonly rest: string } | "incomplete" | undefined {
  const match = LIST_MARKER.exec(text);
  if (!match) return undefined;
  const [marker, indent = "", bullet, digits, delimiter = "", spaces = ""] = match;
  const content = text.slice(marker.length);
  const isEmpty = content === "";
  if (!mayInterrupt && (isEmpty || (digits !== undefined && Number(digits) !== 1))) {
    return undefined;
  }
  const width = marker.length - spaces.length;
  const hasCode = spaces.length > CODE_INDENT;
  const contentIndent = isEmpty || hasCode ? width + 1 : marker.length;
  const rest = text.slice(Math.min(contentIndent, text.length));
  const task = /^\[([ xX])\](?: +|$)/.exec(rest);
  if (!isComplete && /^\[(?:[ xX]\]?)?$/.test(rest)) return "incomplete";
  const container: ItemStart = {
    type: "item",
    markerIndent: indent.length,
    contentIndent,
    delimiter: bullet ?? delimiter,
    ...(digits !== undefined && { number: Number(digits) }),
    ...(task && { task: task[1] === " " ? "open" : "done" }),
  };
  return { container, rest: task ? rest.slice(task[0].length) : rest };
}

interface LeafContext extends LineContext {
  readonly isInItem: boolean;
  /** Whether all containers continue and none begins. */
  readonly isOpen: boolean;
  /** Whether a paragraph may continue without the markers of its containers. */
  readonly isLazy: boolean;
}

function parseLeaf(text: string, context: LeafContext): LeafStart | "incomplete" {
  const { isComplete, open, isOpen, isLazy, isInItem } = context;
  const continuesParagraph = open === "paragraph" && (isOpen || isLazy);
  const isIndented = countSpaces(text) >= CODE_INDENT;
  const fence = parseFence(text, context);
  if (fence && (!isIndented || isInItem)) return fence;
  if (isIndented) {
    if (continuesParagraph) return paragraph(text);
    return isComplete ? { type: "indented_code", text: text.slice(CODE_INDENT) } : "incomplete";
  }
  if (isOpen && open === "paragraph") {
    const underline = parseUnderline(text, context);
    if (underline) return underline;
  }
  if (MAYBE_RULE.test(text) && !isComplete) return "incomplete";
  if (RULE.test(text)) return { type: "rule" };
  const [, marks, title = ""] = HEADING.exec(text) ?? [];
  if (marks !== undefined) {
    if (!isComplete) return "incomplete";
    return {
      type: "heading",
      level: marks.length,
      text: title.replace(/(^|[ \t])#+[ \t]*$/, "").trim(),
    };
  }
  return parseTableLine(text, context) ?? paragraph(text);
}

function parseFence(
  text: string,
  { isComplete }: LeafContext,
): Fence | "incomplete" | undefined {
  if (!isComplete && /^ *(?:`{1,2}|~{1,2})$/.test(text)) return "incomplete";
  const [, indent = "", marker, label = ""] = FENCE.exec(text) ?? [];
  if (marker === undefined || label.length > MAX_LABEL) return undefined;
  if (!isComplete) return "incomplete";
  return { type: "fence", indent: indent.length, marker, label: toOneLine(label) };
}

/** Parses the line below a heading, or between the header and the rows of a table. */
function parseUnderline(
  text: string,
  { header, isComplete }: LeafContext,
): LeafStart | "incomplete" | undefined {
  const delimiters = parseDelimiterRow(text);
  if (header?.includes("|") && /^ *[|:-][|: -]*$/.test(text)) {
    if (!isComplete) return "incomplete";
    if (delimiters?.length === splitCells(header).length) return { type: "delimiter_row", text };
  }
  const [, marks] = /^ *(=+|-+) *$/.exec(text) ?? [];
  if (marks === undefined) return undefined;
  if (!isComplete) return "incomplete";
  return { type: "underline", level: marks.startsWith("=") ? 1 : 2, text: text.trim() };
}

function parseTableLine(text: string, context: LeafContext): LeafStart | "incomplete" | undefined {
  const { isComplete, open, isOpen } = context;
  const hasPipe = text.trimStart().startsWith("|");
  if (isOpen && (open === "piped_table" ? hasPipe : open === "table")) {
    if (!isComplete) return "incomplete";
    if (text.includes("|")) return { type: "table_row", text };
  }
  if (!hasPipe) return undefined;
  return isComplete ? { type: "pipe_line", text: text.trim() } : "incomplete";
}

function paragraph(text: string): LeafStart {
  return { type: "paragraph", text: text.trimStart() };
}

function countSpaces(text: string): number {
  return text.length - text.trimStart().length;
}

/** Replaces the tabs before and behind markers by spaces up to the next multiple of four columns. */
function expandIndent(line: string): string {
  const [start = ""] = line.match(/^(?:[ \t>]|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*/) ?? [];
  if (!start.includes("\t")) return line;
  let expanded = "";
  for (const character of start) {
    expanded += character === "\t" ? " ".repeat(4 - expanded.length % 4) : character;
  }
  return expanded + line.slice(start.length);
}
