/**
 * Rendering of headings and rules.
 *
 * @module
 */

import type { Line, SpanStyle } from "../line/line.ts";
import { wrapLine } from "../line/wrap_line.ts";
import type { BlockOptions } from "./block.ts";
import { renderInline } from "./inline_spans.ts";

/** Columns of a rule where the output has no width. */
const DEFAULT_RULE = 40;

/** A heading. */
export interface Heading {
  /** Level, from 1 to 6. */
  readonly level: number;
  /** Source of its text. */
  readonly text: string;
}

/** Renders a heading; without colors, with the marks of its level. */
export function renderHeading(
  { level, text }: Heading,
  { context: { getColumns, display, style }, getPrefix }: BlockOptions,
): Line[] {
  const look: SpanStyle = {
    ...style,
    role: "heading",
    bold: true,
    ...(level === 1 && { underline: true }),
  };
  const marks = display.colors === "none" ? [{ text: `${"#".repeat(level)} ` }] : [];
  const spans = renderInline(text, {
    display,
    style: level > 2 ? { ...look, italic: true } : look,
  });
  return wrapLine([...marks, ...spans], {
    columns: getColumns(),
    first: getPrefix(0),
    next: getPrefix(1),
  });
}

/** Renders a horizontal rule. */
export function renderRule(
  { context: { getColumns, display }, getPrefix }: BlockOptions,
): Line[] {
  const prefix = getPrefix(0);
  const columns = getColumns();
  const width = Number.isFinite(columns) ? columns : DEFAULT_RULE;
  const used = prefix.reduce((sum, { text }) => sum + text.length, 0);
  const text = display.symbols.rule.repeat(Math.max(width - used, 1));
  return [[...prefix, { text: display.isPlain ? "---" : text, role: "mark" }]];
}
