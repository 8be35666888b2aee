/**
 * Changing the style of a part of a line.
 *
 * @module
 */

import { joinSpans } from "./append_span.ts";
import type { Span, SpanStyle } from "./line.ts";

/** A part of the text of a line, by the offsets of its characters. */
export interface TextRange {
  /** Offset of the first character. */
  readonly start: number;
  /** Offset behind the last character. */
  readonly end: number;
}

/** Returns a line whose characters in a range have another style. */
export function restyle(
  line: readonly Span[],
  { start, end, style }: TextRange & { readonly style: SpanStyle },
): Span[] {
  const spans: Span[] = [];
  let offset = 0;
  for (const span of line) {
    const from = Math.min(Math.max(start - offset, 0), span.text.length);
    const to = Math.min(Math.max(end - offset, from), span.text.length);
    spans.push(
      { ...span, text: span.text.slice(0, from) },
      { ...span, ...style, text: span.text.slice(from, to) },
      { ...span, text: span.text.slice(to) },
    );
    offset += span.text.length;
  }
  return joinSpans(spans);
}
