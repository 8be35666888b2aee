/**
 * The width of text on a terminal, in columns.
 *
 * @module
 */

import { unicodeWidth } from "@std/cli/unicode-width";

/** Matches graphemes that are drawn as one emoji of two columns, however many characters they consist of. */
export const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u;

let segmenter: Intl.Segmenter | undefined;

/** Returns the number of columns that a text without line breaks and tabs takes. */
export function getTextWidth(text: string): number {
  const isAscii = /^[ -~]*$/.test(text);
  if (isAscii) return text.length;
  if (!EMOJI.test(text)) return unicodeWidth(text);
  return splitGraphemes(text).reduce((sum, grapheme) => sum + getGraphemeWidth(grapheme), 0);
}

/** Columns between the tab stops of a terminal. */
const TAB_STOP = 8;

/** Returns the column of the cursor after text without line breaks that is written at a column. */
export function getEndColumn(text: string, column: number): number {
  const [first = "", ...rest] = text.split("\t");
  return rest.reduce(
    (end, part) => end - end % TAB_STOP + TAB_STOP + getTextWidth(part),
    column + getTextWidth(first),
  );
}

/** Whether lines may break before and after a grapheme: it is an emoji or begins with an East Asian wide character. */
export function isWide(grapheme: string): boolean {
  return EMOJI.test(grapheme) ||
    unicodeWidth(String.fromCodePoint(grapheme.codePointAt(0) ?? 0)) > 1;
}

/** Splits a text into graphemes: characters with their combining marks, and emoji sequences. */
export function splitGraphemes(text: string): string[] {
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Truncates a text to a number of columns. A truncated text ends with `…`; it is empty without space for that. */
export function truncateToWidth(text: string, columns: number, ellipsis = "…"): string {
  if (getTextWidth(text) <= columns) return text;
  const end = getTextWidth(ellipsis);
  let truncated = "";
  let available = columns - end;
  for (const grapheme of splitGraphemes(text)) {
    available -= getGraphemeWidth(grapheme);
    if (available < 0) break;
    truncated += grapheme;
  }
  return columns < end ? "" : truncated + ellipsis;
}

/** Columns of a tab in text that is split. */
const TAB = "    ";

/** Replaces tabs by spaces. */
export function expandTabs(text: string): string {
  return text.replaceAll("\t", TAB);
}

/** Splits a line without tabs into rows of at most `columns` columns; a grapheme that is wider gets its own row. */
export function splitToWidth(text: string, columns: number): string[] {
  if (getTextWidth(text) <= columns) return [text];
  const rows: string[] = [];
  let row = "";
  let width = 0;
  for (const grapheme of splitGraphemes(text)) {
    const graphemeWidth = getGraphemeWidth(grapheme);
    if (width + graphemeWidth > columns && row !== "") {
      rows.push(row);
      row = "";
      width = 0;
    }
    row += grapheme;
    width += graphemeWidth;
  }
  return [...rows, row];
}

function getGraphemeWidth(grapheme: string): number {
  return EMOJI.test(grapheme) ? 2 : unicodeWidth(grapheme);
}
