/**
 * Composition of lines from spans.
 *
 * @module
 */

import type { Span, SpanStyle } from "./line.ts";

/** Adds a span to the end of a line; joins it with the last one if their styles are equal. */
export function appendSpan(line: Span[], span: Span): void {
  if (span.text === "") return;
  const last = line.at(-1);
  if (last && haveSameStyle(last, span)) {
    line[line.length - 1] = { ...last, text: last.text + span.text };
  } else line.push(span);
}

/** Joins adjacent spans of the same style. */
export function joinSpans(spans: Iterable<Span>): Span[] {
  const line: Span[] = [];
  for (const span of spans) appendSpan(line, span);
  return line;
}

/** Returns a span with a style below its own. */
export function withStyle(span: Span, style: SpanStyle | undefined): Span {
  return style ? { ...style, ...span } : span;
}

function haveSameStyle(left: SpanStyle, right: SpanStyle): boolean {
  return left.role === right.role && left.bold === right.bold && left.dim === right.dim &&
    left.italic === right.italic && left.underline === right.underline &&
    left.strike === right.strike && left.link === right.link && left.ground === right.ground;
}
