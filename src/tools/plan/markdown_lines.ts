/**
 * The lines of a Markdown text, and those of them that are headings.
 *
 * @module
 */

/** A heading such as `## Steps`. */
export interface MarkdownHeading {
  /** 1 to 6. */
  readonly level: number;
  /** Its text in one line, without marks. */
  readonly text: string;
}

/** A line. */
export interface MarkdownLine {
  /** The line with its line ending, if it has one. */
  readonly text: string;
  /** The block that the line belongs to, whose content is no structure. */
  readonly block?: "code" | "comment";
  /** The heading, if the line is one. */
  readonly heading?: MarkdownHeading;
}

/** A block of code or a comment that is never closed. */
export interface UnclosedBlock {
  readonly type: "code" | "comment";
  /** Number of the line that opens it, from 1. */
  readonly line: number;
  /** The line that would close it. */
  readonly closing: string;
}

/** A text by lines. */
export interface MarkdownText {
  /** All lines; joined, they are the text. */
  readonly lines: readonly MarkdownLine[];
  /** The block that reaches to the end of the text because it is never closed, if there is one. */
  readonly unclosed?: UnclosedBlock;
}

const LINE = /[^\n]*\n|[^\n]+$/g;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/s;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/s;
const COMMENT = /^ {0,3}<!--/;

/** Splits a text into lines, and recognizes headings outside of code blocks and comments. */
export function readMarkdown(text: string): MarkdownText {
  let open: UnclosedBlock | undefined;
  const lines = (text.match(LINE) ?? []).map((line, index): MarkdownLine => {
    const content = line.replace(/\r?\n$/, "");
    const current = open ?? findOpening(content, index + 1);
    if (!current) {
      const heading = parseHeading(content);
      return { text: line, ...(heading && { heading }) };
    }
    // A comment may end in its first line; a block of code may not.
    const mayClose = open !== undefined || current.type === "comment";
    open = mayClose && closes(content, current) ? undefined : current;
    return { text: line, block: current.type };
  });
  return { lines, ...(open && { unclosed: open }) };
}

function findOpening(content: string, line: number): UnclosedBlock | undefined {
  const [, fence] = FENCE.exec(content) ?? [];
  if (fence !== undefined) return { type: "code", line, closing: fence };
  return COMMENT.test(content) ? { type: "comment", line, closing: "-->" } : undefined;
}

function closes(content: string, { type, closing }: UnclosedBlock): boolean {
  if (type === "comment") return content.includes(closing);
  const [, marks = ""] = /^ {0,3}(`+|~+)[ \t]*$/.exec(content) ?? [];
  return marks.startsWith(closing);
}

function parseHeading(content: string): MarkdownHeading | undefined {
  const [, marks, text = ""] = HEADING.exec(content) ?? [];
  if (marks === undefined) return undefined;
  return { level: marks.length, text: removeClosingMarks(toOneLine(text)) };
}

/**
 * Removes the marks at the end of a heading: `Title #` is `Title`. Several groups are removed as one, so that the rest is a
 * heading that can be written again.
 */
export function removeClosingMarks(text: string): string {
  let end = text.length;
  while (end > 0) {
    let start = end;
    while (text[start - 1] === "#") start--;
    if (start === end || (start > 0 && text[start - 1] !== " ")) break;
    end = Math.max(0, start - 1);
  }
  return text.slice(0, end);
}

/** Replaces line breaks and repeated blanks by single spaces, and removes those at both ends. */
export function toOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
