/**
 * Formats the matching lines of a file with the lines around them.
 *
 * @module
 */

import { truncateEnd } from "../../core/text/output_limit.ts";
import { detectEncoding } from "../files/text_content.ts";
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
  options: FormatHitsOptions,
): string | undefined {
  return formatAtOffsets(hits, options) ?? formatFromText(hits, options);
}

/**
 * Formats lines whose place in the file is known, which takes a fraction of the time of decoding the file; `undefined` if
 * they are not there, or lines around them are wanted.
 */
function formatAtOffsets(
  hits: readonly LineHit[],
  { bytes, context }: FormatHitsOptions,
): string | undefined {
  if (context > 0) return undefined;
  const shown: string[] = [];
  for (const { line, column, text, offset } of hits) {
    if (offset === undefined || offset > bytes.length) return undefined;
    if (offset > 0 && bytes[offset - 1] !== LINE_FEED) return undefined;
    const end = bytes.indexOf(LINE_FEED, offset);
    const current = DECODER.decode(bytes.subarray(offset, end === -1 ? undefined : end));
    if (text !== undefined && withoutReturn(current) !== withoutReturn(text)) return undefined;
    shown.push(formatLine(line, current, { separator: ":", column }));
  }
  return shown.join("\n");
}

const LINE_FEED = 0x0a;

/** Keeps a byte order mark, which is part of no line that was found. */
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

function formatFromText(
  hits: readonly LineHit[],
  { bytes, context }: FormatHitsOptions,
): string | undefined {
  const lastNeeded = (hits.at(-1)?.line ?? 0) + context;
  const lines = new LineReader(new TextDecoder(detectEncoding(bytes)).decode(bytes), lastNeeded);
  const shown: string[] = [];
  let lastShown = 0;
  for (const [position, { line, column, text }] of hits.entries()) {
    const current = lines.get(line);
    const isChanged = current === undefined ||
      (text !== undefined && withoutReturn(current) !== withoutReturn(text));
    if (isChanged) return undefined;
    const first = Math.max(line - context, lastShown + 1);
    if (context > 0 && shown.length > 0 && first > lastShown + 1) shown.push("--");
    for (let before = first; before < line; before++) {
      shown.push(formatLine(before, lines.get(before) ?? "", { separator: "-", column: 0 }));
    }
    shown.push(formatLine(line, current, { separator: ":", column }));
    const next = hits[position + 1]?.line ?? Infinity;
    lastShown = Math.min(line + context, next - 1, lines.count);
    for (let after = line + 1; after <= lastShown; after++) {
      shown.push(formatLine(after, lines.get(after) ?? "", { separator: "-", column: 0 }));
    }
  }
  return shown.join("\n");
}

/** The first lines of a text. Of most only the position is kept, since most lines are not shown. */
class LineReader {
  readonly #text: string;
  /** Index of the first character of each line, and the index after the last one. */
  readonly #starts = [0];

  constructor(text: string, maximum: number) {
    this.#text = text;
    for (let end = 0; end < text.length && this.count < maximum;) {
      const newline = text.indexOf("\n", end);
      end = newline === -1 ? text.length : newline + 1;
      this.#starts.push(end);
    }
  }

  /** Number of lines, without those after the maximum. */
  get count(): number {
    return this.#starts.length - 1;
  }

  /** Returns a line without its line break; `undefined` if the text has no such line. */
  get(number: number): string | undefined {
    const [start, end] = [this.#starts[number - 1], this.#starts[number]];
    if (end === undefined) return undefined;
    const line = this.#text.slice(start, end);
    return line.endsWith("\n") ? line.slice(0, -1) : line;
  }
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
