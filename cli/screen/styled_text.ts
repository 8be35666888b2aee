/**
 * Measures and splits text with SGR sequences and links.
 *
 * @module
 */

import { EMOJI, getEndColumn, getTextWidth, splitGraphemes } from "../render/text_width.ts";
import { StyleState } from "./style_state.ts";

/** A part of a styled text. */
export type TextToken =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tab" }
  | { readonly type: "line_feed" }
  /** An SGR sequence, a link (OSC 8) or a mark of a prompt (OSC 133). */
  | { readonly type: "sequence"; readonly text: string };

/** Matches the sequences that do not move the cursor, line feeds, tabs, text, and other control characters. */
const TOKENS =
  // deno-lint-ignore no-control-regex -- sequences begin with a control character
  /(\x1b\[[\d;:]*m|\x1b\](?:8|133);[^\x00-\x1f]*(?:\x07|\x1b\\))|(\n)|(\t)|([^\x00-\x1f\x7f-\x9f]+)|[^]/g;

/** Splits a text into its parts. Other control characters are omitted, since they could change what is on the screen. */
export function* splitTokens(text: string): Generator<TextToken> {
  for (const [, sequence, lineFeed, tab, run] of text.matchAll(TOKENS)) {
    if (run !== undefined) yield { type: "text", text: run };
    else if (sequence !== undefined) yield { type: "sequence", text: sequence };
    else if (lineFeed !== undefined) yield { type: "line_feed" };
    else if (tab !== undefined) yield { type: "tab" };
  }
}

/** Returns the columns of a styled text without line feeds and tabs. */
export function getStyledWidth(text: string): number {
  let width = 0;
  for (const token of splitTokens(text)) {
    if (token.type === "text") width += getTextWidth(token.text);
  }
  return width;
}

/**
 * Cuts a styled text to a number of columns; a cut text ends with `…`. Line feeds and tabs become spaces. Emoji that
 * consist of several characters count as these, since some terminals show them separately.
 */
export function cutStyledText(text: string, columns: number): string {
  if (columns < 1) return "";
  const style = new StyleState();
  let cut = "";
  let width = 0;
  /** The text up to the column before the last one, which the ellipsis needs if more follows. */
  let shortened: string | undefined;
  for (const token of splitTokens(text)) {
    if (token.type === "sequence") {
      style.apply(token.text);
      cut += token.text;
      continue;
    }
    const run = token.type === "text" ? token.text : " ";
    const runWidth = getWidestWidth(run);
    if (width + runWidth < columns) {
      cut += run;
      width += runWidth;
      continue;
    }
    for (const grapheme of splitGraphemes(run)) {
      const end = width + getWidestWidth(grapheme);
      if (end > columns - 1) shortened ??= `${cut}…${style.end}`;
      if (end > columns) return shortened ?? "";
      cut += grapheme;
      width = end;
    }
  }
  return cut + style.end;
}

/** The last row of a line. */
export interface LastRow {
  /** Its text with the style that begins on an earlier row. */
  readonly text: string;
  /** The sequences that end its style. */
  readonly end: string;
  /** Its columns. */
  readonly width: number;
  /** Number of rows before it. */
  readonly rowsBefore: number;
}

/** The row at the beginning of a line. */
export const EMPTY_ROW: LastRow = { text: "", end: "", width: 0, rowsBefore: 0 };

/** A row after text has been appended. */
export interface ExtendedRow {
  readonly row: LastRow;
  /** The end of the text, if terminals differ in whether it is on this row or on the next one. */
  readonly rest: string;
}

/**
 * Appends text to the last row of a line, which a terminal breaks at its width. Terminals differ in the width of emoji
 * that consist of several characters, so that a row with such an emoji is not filled.
 *
 * @param text Text without line feeds, tabs and control characters.
 */
export function extendRow(row: LastRow, text: string, columns: number): ExtendedRow {
  const style = new StyleState();
  const complete = row.text + text;
  let { rowsBefore } = row;
  let start = "";
  let width = 0;
  /** The columns in a terminal that shows each character of an emoji; `undefined` while all terminals agree. */
  let widest: number | undefined;
  let offset = 0;
  for (const token of splitTokens(complete)) {
    if (token.type === "sequence") {
      style.apply(token.text);
      start += token.text;
      offset += token.text.length;
      continue;
    }
    for (const part of splitRun(token.type === "text" ? token.text : "", columns - width)) {
      const partWidth = getTextWidth(part);
      if (widest === undefined && isWidthUncertain(part)) widest = width;
      if (widest !== undefined) widest += getWidestWidth(part);
      if (widest !== undefined && widest > columns && width > 0) {
        const cut = Math.max(offset, row.text.length);
        const shown = start + complete.slice(offset, cut);
        return {
          row: { text: shown, end: style.end, width, rowsBefore },
          rest: complete.slice(cut),
        };
      }
      if (width + partWidth > columns && width > 0) {
        start = style.start;
        width = 0;
        widest = undefined;
        rowsBefore++;
      }
      start += part;
      width += partWidth;
      offset += part.length;
    }
  }
  return { row: { text: start, end: style.end, width, rowsBefore }, rest: "" };
}

/** Splits a text without sequences into graphemes, unless it is ASCII and fits. */
function splitRun(text: string, columns: number): readonly string[] {
  const isSimple = text.length <= columns && /^[ -~]*$/.test(text);
  return isSimple ? [text] : splitGraphemes(text);
}

function isWidthUncertain(grapheme: string): boolean {
  return EMOJI.test(grapheme) && Array.from(grapheme).length > 1;
}

/** Returns the columns in a terminal that shows the characters of an emoji separately. */
function getWidestWidth(text: string): number {
  if (!EMOJI.test(text)) return getTextWidth(text);
  const graphemes = splitGraphemes(text);
  return graphemes.reduce((sum, grapheme) => sum + getWidestGraphemeWidth(grapheme), 0);
}

function getWidestGraphemeWidth(grapheme: string): number {
  const separate = Array.from(grapheme).reduce(
    (sum, character) => sum + getTextWidth(character),
    0,
  );
  return Math.max(separate, getTextWidth(grapheme));
}

/** Returns the number of spaces that replace a tab at a column. */
export function getTabWidth(column: number): number {
  return getEndColumn("\t", column) - column;
}
