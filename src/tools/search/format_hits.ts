/**
 * Formats the matching lines of a file with the lines around them.
 *
 * @module
 */

import { detectEncoding } from "../files/text_content.ts";
import { truncateEnd } from "../text/output_limit.ts";
import type { LineHit } from "./find_lines.ts";

/** Maximum length of a line in a result; longer ones are shortened to the part around the match. */
const MAX_SHOWN_CHARACTERS = 400;

/** Options for {@linkcode formatHits}. */
export interface FormatHitsOptions {
  /** Content of the file. */
  readonly bytes: Uint8Array;
  /** Number of lines to show before and after each match. */
  readonly context: number;
}

/**
 * Returns the lines as `12: text` and `13- context`, with `--` between parts that are apart; `undefined` if the file no
 * longer has the lines that were found.
 */
export function formatHits(
  hits: readonly LineHit[],
  { bytes, context }: FormatHitsOptions,
): string | undefined {
  const lines = new TextDecoder(detectEncoding(bytes)).decode(bytes).split("\n");
  if (lines.at(-1) === "") lines.pop();
  const shown: string[] = [];
  let lastShown = 0;
  for (const [position, { line, column, text }] of hits.entries()) {
    const current = lines[line - 1];
    const isChanged = current === undefined ||
      (text !== undefined && withoutReturn(current) !== withoutReturn(text));
    if (isChanged) return undefined;
    const first = Math.max(line - context, lastShown + 1);
    if (context > 0 && shown.length > 0 && first > lastShown + 1) shown.push("--");
    for (let before = first; before < line; before++) {
      shown.push(formatLine(before, lines[before - 1] ?? "", { separator: "-", column: 0 }));
    }
    shown.push(formatLine(line, current, { separator: ":", column }));
    const next = hits[position + 1]?.line ?? Infinity;
    lastShown = Math.min(line + context, next - 1, lines.length);
    for (let after = line + 1; after <= lastShown; after++) {
      shown.push(formatLine(after, lines[after - 1] ?? "", { separator: "-", column: 0 }));
    }
  }
  return shown.join("\n");
}

function formatLine(
  number: number,
  line: string,
  { separator, column }: { readonly separator: ":" | "-"; readonly column: number },
): string {
  return `${number}${separator} ${truncateAround(withoutReturn(line), column)}`;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function truncateAround(line: string, index: number): string {
  if (line.length <= MAX_SHOWN_CHARACTERS) return line;
  const from = Math.max(index - MAX_SHOWN_CHARACTERS / 4, 0);
  const start = truncateEnd(line, from).length;
  const middle = truncateEnd(line.slice(start), MAX_SHOWN_CHARACTERS);
  return `${start > 0 ? "…" : ""}${middle}${start + middle.length < line.length ? "…" : ""}`;
}
