/**
 * Width of lines, and truncation to a width.
 *
 * @module
 */

import { getTextWidth, splitGraphemes } from "../text_width.ts";
import { appendSpan } from "./append_span.ts";
import type { Line, Span } from "./line.ts";

/** Returns the columns that a line takes. */
export function getLineWidth(line: Line): number {
  return line.reduce((width, { text }) => width + getTextWidth(text), 0);
}

/** Options for `truncateLine()`. */
export interface TruncateOptions {
  /** Maximum columns. */
  readonly columns: number;
  /** End of a truncated line, which counts. Default: `…`. */
  readonly ellipsis?: string | undefined;
}

/** Truncates a line to a number of columns, between graphemes. */
export function truncateLine(line: Line, { columns, ellipsis = "…" }: TruncateOptions): Line {
  if (getLineWidth(line) <= columns) return line;
  const end = getTextWidth(ellipsis) <= columns ? ellipsis : "";
  const truncated: Span[] = [];
  let available = columns - getTextWidth(end);
  for (const span of line) {
    const text = takeColumns(span.text, available);
    available -= getTextWidth(text);
    appendSpan(truncated, { ...span, text });
    if (text.length < span.text.length) {
      // An ellipsis in the style of what it replaces, without its link.
      const { link: _, ...style } = span;
      appendSpan(truncated, { ...style, text: end });
      break;
    }
  }
  return truncated;
}

/** Adds spaces to a line, on the right, on the left or on both sides. A line that is too wide is not changed. */
export function padLine(
  line: Line,
  { columns, align = "left" }: {
    readonly columns: number;
    readonly align?: "left" | "right" | "center";
  },
): Line {
  const missing = columns - getLineWidth(line);
  if (missing <= 0) return line;
  const before = align === "left" ? 0 : align === "right" ? missing : Math.floor(missing / 2);
  return [
    ...(before > 0 ? [{ text: " ".repeat(before) }] : []),
    ...line,
    ...(missing > before ? [{ text: " ".repeat(missing - before) }] : []),
  ];
}

/** Removes the spaces at the end of a line. */
export function trimLineEnd(line: Line): Line {
  const last = line.findLastIndex(({ text }) => text.trimEnd() !== "");
  return line.slice(0, last + 1).map((span, index) =>
    index === last ? { ...span, text: span.text.trimEnd() } : span
  );
}

/** Returns the longest beginning of a text that fits into a number of columns. */
function takeColumns(text: string, columns: number): string {
  if (getTextWidth(text) <= columns) return text;
  let taken = "";
  let available = columns;
  for (const grapheme of splitGraphemes(text)) {
    available -= getTextWidth(grapheme);
    if (available < 0) break;
    taken += grapheme;
  }
  return taken;
}
