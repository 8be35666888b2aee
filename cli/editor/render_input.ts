/**
 * Lays the input out in rows.
 *
 * @module
 */

import { formatCodePoint } from "../render/code_point.ts";
import { expandTabs, getTextWidth, splitGraphemes } from "../render/text_width.ts";
import type { RegionCursor } from "../screen/live_region.ts";
import type { InputLayout, InputStyle, InputView } from "./editor_options.ts";
import type { EditorState } from "./editor_state.ts";
import { renderMenu } from "./render_menu.ts";
import { findLineEnd, findLineStart, snapToGrapheme } from "./text_position.ts";

const DEFAULT_ROWS = 8;
const DEFAULT_SIGN = "› ";

/** Rows of the input that remain while completions are shown. */
const ROWS_ABOVE_MENU = 5;

/** Parts of a very long line, in characters: two of them are laid out. */
const LINE_PART = 4_096;

/** Columns of a tab. */
const TAB_WIDTH = 4;

const PLAIN: InputStyle = { sign: (text) => text, faint: (text) => text, selected: (text) => text };

/** The mark in the first or last row before text that is not shown. */
const MORE = "…";

/** A row of the text. */
interface TextRow {
  readonly text: string;
  /** Offset of its first character in the text of the input. */
  readonly start: number;
  /** Offset after its last character. */
  readonly end: number;
  /** Whether the line continues in the next row. */
  readonly isBroken: boolean;
}

/**
 * Lays out the input: sign and text, the query of a search or the command of vi below it, and completions. Long lines
 * are broken, and of many rows those around the cursor are shown. With `maxRows: 1`, the line is scrolled sideways.
 */
export function renderInput(state: EditorState, layout: InputLayout): InputView {
  const { columns, placeholder = "", style = PLAIN, sign = DEFAULT_SIGN } = layout;
  const hasMenu = state.menu !== undefined && state.menu.items.length > 0;
  const maxRows = Math.max(layout.maxRows ?? DEFAULT_ROWS, 1);
  const signWidth = Math.min(getTextWidth(sign), Math.max(columns - 4, 0));
  const text = renderText(state, {
    width: Math.max(columns - 1 - signWidth, 2),
    maxRows: hasMenu ? Math.min(maxRows, ROWS_ABOVE_MENU) : maxRows,
  });
  const rows = text.rows.map((row, index) => {
    const isHidden = (index === 0 && text.hasRowsAbove) ||
      (index === text.rows.length - 1 && index > 0 && text.hasRowsBelow);
    const mark = isHidden ? style.faint(MORE.padEnd(signWidth)) : " ".repeat(signWidth);
    return (text.isFirst(index) ? style.sign(sign) : mark) + row;
  });
  if (state.text === "" && placeholder !== "") rows[0] += style.faint(placeholder);
  const cursor = { row: text.cursor.row, column: text.cursor.column + signWidth };
  const prompt = renderPrompt(state, style);
  const view = prompt === undefined
    ? { rows, cursor }
    : { rows: [...rows, prompt.row], cursor: { row: rows.length, column: prompt.column } };
  if (!state.menu) return view;
  const maxMenuRows = layout.maxMenuRows ?? DEFAULT_ROWS;
  return {
    ...view,
    rows: [...view.rows, ...renderMenu(state.menu, { columns, maxMenuRows, style })],
  };
}

/** The row below the text in which the user types while a search or a command of vi is edited. */
function renderPrompt(
  { mode }: EditorState,
  style: InputStyle,
): { readonly row: string; readonly column: number } | undefined {
  switch (mode.type) {
    case "insert":
    case "normal":
      return undefined;
    case "command": {
      const command = toShownText(mode.text, TAB_WIDTH);
      return { row: `:${command}`, column: 1 + getTextWidth(command) };
    }
    case "search": {
      const label = mode.query !== "" && mode.match === undefined ? "no match: " : "search: ";
      const query = toShownText(mode.query, TAB_WIDTH);
      return { row: style.faint(label) + query, column: label.length + getTextWidth(query) };
    }
  }
}

interface TextLayout {
  readonly width: number;
  readonly maxRows: number;
}

interface RenderedText {
  readonly rows: readonly string[];
  readonly cursor: RegionCursor;
  readonly hasRowsAbove: boolean;
  readonly hasRowsBelow: boolean;
  /** Whether a row is the first one of the text. */
  readonly isFirst: (index: number) => boolean;
}

function renderText({ text, cursor }: EditorState, layout: TextLayout): RenderedText {
  if (layout.maxRows === 1) return renderSideways(text, cursor, layout.width);
  const rows = layOutLine(text, cursor, layout.width);
  let cursorRow = findCursorRow(rows, cursor);
  // The cursor behind a full row is at the beginning of the next one.
  const row = rows[cursorRow];
  const column = row ? getTextWidth(toShownText(text.slice(row.start, cursor), layout.width)) : 0;
  const isBehindFullRow = column >= layout.width;
  if (isBehindFullRow) {
    cursorRow++;
    rows.splice(cursorRow, 0, { text: "", start: cursor, end: cursor, isBroken: false });
  }
  const above = addLinesAbove(rows, { text, layout });
  addLinesBelow(rows, { text, layout, cursorRow: cursorRow + above });
  cursorRow += above;
  const start = chooseStart(rows.length, cursorRow, layout.maxRows);
  const shown = rows.slice(start, start + layout.maxRows);
  return {
    rows: shown.map((shownRow) => shownRow.text),
    cursor: { row: cursorRow - start, column: isBehindFullRow ? 0 : column },
    hasRowsAbove: (shown[0]?.start ?? 0) > 0,
    hasRowsBelow: (shown.at(-1)?.end ?? text.length) < text.length,
    isFirst: (index) => index === 0 && shown[0]?.start === 0,
  };
}

/** Keeps the cursor in the lower half, so that more of what was typed is shown. */
function chooseStart(rows: number, cursorRow: number, maxRows: number): number {
  const below = Math.floor(maxRows / 4);
  const start = cursorRow + below + 1 - maxRows;
  return Math.max(Math.min(start, rows - maxRows), 0);
}

function findCursorRow(rows: readonly TextRow[], cursor: number): number {
  const row = rows.findIndex(({ end, isBroken }) => cursor < end || (cursor === end && !isBroken));
  return row < 0 ? rows.length - 1 : row;
}

interface RowsAround {
  readonly text: string;
  readonly layout: TextLayout;
}

/** Adds the rows of the lines above, until there are enough. Returns their number. */
function addLinesAbove(rows: TextRow[], { text, layout }: RowsAround): number {
  const { length } = rows;
  while (rows.length - length < layout.maxRows) {
    const start = rows[0]?.start ?? 0;
    const isLineStart = start > 0 && text[start - 1] === "\n";
    if (!isLineStart) break;
    rows.unshift(...layOutLine(text, start - 1, layout.width));
  }
  return rows.length - length;
}

/** Adds the rows of the lines below, until there are enough. */
function addLinesBelow(
  rows: TextRow[],
  { text, layout, cursorRow }: RowsAround & { readonly cursorRow: number },
): void {
  while (rows.length - cursorRow <= layout.maxRows) {
    const end = rows.at(-1)?.end ?? text.length;
    if (text[end] !== "\n") break;
    rows.push(...layOutLine(text, end + 1, layout.width));
  }
}

/** Breaks the line at an offset into rows. Of a very long line, only the part around the offset is laid out. */
function layOutLine(text: string, offset: number, width: number): TextRow[] {
  const lineStart = findLineStart(text, offset);
  const lineEnd = findLineEnd(text, offset);
  // It begins at a multiple of half of a part, so that the rows are the same while the cursor moves.
  const before = Math.max(offset - lineStart - LINE_PART / 2, 0);
  const partStart = lineStart + before - before % (LINE_PART / 2);
  const start = partStart === lineStart ? lineStart : snapToGrapheme(text, partStart);
  const end = Math.min(start + 2 * LINE_PART, lineEnd);
  const rows: TextRow[] = [];
  let row = { text: "", start, end: start };
  let rowWidth = 0;
  const part = text.slice(start, end);
  const isAscii = /^[ -~]*$/.test(part);
  for (const grapheme of isAscii ? part : splitGraphemes(part)) {
    const shown = toShownText(grapheme, width);
    const graphemeWidth = isAscii ? 1 : getTextWidth(shown);
    if (rowWidth + graphemeWidth > width && rowWidth > 0) {
      rows.push({ ...row, isBroken: true });
      row = { text: "", start: row.end, end: row.end };
      rowWidth = 0;
    }
    row = { text: row.text + shown, start: row.start, end: row.end + grapheme.length };
    rowWidth += graphemeWidth;
  }
  rows.push({ ...row, isBroken: false });
  return rows;
}

/** Matches characters that terminals interpret, and controls of the direction of text. */
// deno-lint-ignore no-control-regex -- matches control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Replaces tabs by spaces, of which a row has place for at least one group, and control characters, such as those of the
 * name of a file, by their code points.
 */
function toShownText(text: string, width: number): string {
  const spaced = width < TAB_WIDTH ? text.replaceAll("\t", " ") : expandTabs(text);
  return spaced.replace(CONTROL, formatCodePoint);
}

/** Shows the part of the line around the cursor. */
function renderSideways(text: string, cursor: number, width: number): RenderedText {
  const lineStart = findLineStart(text, cursor);
  const lineEnd = findLineEnd(text, cursor);
  // One column at each side is for the mark of text that is not shown.
  const capacity = Math.max(width - 2, 1);
  const shown = toShownText(text.slice(Math.max(cursor - 4 * width, lineStart), cursor), capacity);
  const before = takeWidth(splitGraphemes(shown).toReversed(), Math.floor(capacity * 3 / 4))
    .toReversed().join("");
  const rest = toShownText(text.slice(cursor, Math.min(cursor + 4 * width, lineEnd)), capacity);
  const after = takeWidth(splitGraphemes(rest), capacity - getTextWidth(before)).join("");
  const start = (before.length < shown.length ? MORE : "") + before;
  return {
    rows: [start + after + (after.length < rest.length ? MORE : "")],
    cursor: { row: 0, column: getTextWidth(start) },
    hasRowsAbove: lineStart > 0,
    hasRowsBelow: false,
    isFirst: () => lineStart === 0,
  };
}

/** Returns the first graphemes that fit into a width. */
function takeWidth(graphemes: readonly string[], width: number): string[] {
  let rest = width;
  const end = graphemes.findIndex((grapheme) => {
    rest -= getTextWidth(grapheme);
    return rest < 0;
  });
  return end < 0 ? [...graphemes] : graphemes.slice(0, end);
}
