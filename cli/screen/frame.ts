/**
 * The sequences that draw the live region.
 *
 * @module
 */

import type { RegionCursor } from "./live_region.ts";

/** Rows on the screen, with the cursor in one of them. */
export interface DrawnRows {
  readonly rows: readonly string[];
  readonly cursor: RegionCursor;
}

/** Erases the row from the cursor. */
export const ERASE_ROW = "\x1b[K";

/**
 * Erases the screen from the row of the cursor, at whose beginning it is. In two steps with the cursor saved between
 * them, because tmux appends what is erased from the top left corner to its scrollback.
 */
export const ERASE_BELOW = `${ERASE_ROW}\x1b7\x1b[B\x1b[J\x1b8`;

/** Starts and ends an update that the terminal shows at once (synchronized output). */
export const SYNCHRONIZED: readonly [start: string, end: string] = ["\x1b[?2026h", "\x1b[?2026l"];

/** Returns the sequence that moves the cursor up by a number of rows. */
export function moveUp(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}

function moveDown(rows: number): string {
  return rows > 0 ? `\x1b[${rows}B` : "";
}

function moveRight(columns: number): string {
  return columns > 0 ? `\x1b[${columns}C` : "";
}

/** Draws rows from the cursor, which is at the beginning of an empty row. */
export function drawRows({ rows, cursor }: DrawnRows): string {
  if (rows.length === 0) return "";
  return rows.join("\r\n") + moveUp(rows.length - 1 - cursor.row) + "\r" + moveRight(cursor.column);
}

/** Changes the drawn rows to others. Returns an empty text if they are the same. */
export function changeRows(drawn: DrawnRows, next: DrawnRows): string {
  const first = next.rows.findIndex((row, index) => row !== drawn.rows[index]);
  const hasSameLength = drawn.rows.length === next.rows.length;
  if (first < 0 && hasSameLength) return moveCursor(drawn.cursor, next.cursor);
  const start = first < 0 ? next.rows.length : first;
  if (hasSameLength) return replaceRows(drawn, next);
  // The rows above the first different one are on the screen; the last of them is never erased, since the region
  // would leave an empty row behind.
  const row = Math.max(Math.min(start, next.rows.length - 1, drawn.rows.length - 1), 0);
  const rest = {
    rows: next.rows.slice(row),
    cursor: { row: next.rows.length - 1 - row, column: next.cursor.column },
  };
  return moveToRow(drawn.cursor.row, row) + ERASE_BELOW + drawRows(rest) +
    moveUp(next.rows.length - 1 - next.cursor.row);
}

/** Overwrites the rows that differ. */
function replaceRows(drawn: DrawnRows, next: DrawnRows): string {
  let sequence = "";
  let cursorRow = drawn.cursor.row;
  next.rows.forEach((row, index) => {
    if (row === drawn.rows[index]) return;
    sequence += moveToRow(cursorRow, index) + row + ERASE_ROW;
    cursorRow = index;
  });
  return sequence + moveToRow(cursorRow, next.cursor.row) + moveRight(next.cursor.column);
}

function moveCursor(from: RegionCursor, to: RegionCursor): string {
  if (from.row === to.row && from.column === to.column) return "";
  return moveToRow(from.row, to.row) + moveRight(to.column);
}

/** Moves to the beginning of a row of the region. */
function moveToRow(from: number, to: number): string {
  return moveUp(from - to) + moveDown(to - from) + "\r";
}
