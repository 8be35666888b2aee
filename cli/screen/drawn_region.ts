/**
 * The live region of a terminal that can move the cursor.
 *
 * @module
 */

import type { TerminalFeatures } from "../host/terminal_features.ts";
import { getTextWidth } from "../render/text_width.ts";
import {
  changeRows,
  type DrawnRows,
  drawRows,
  ERASE_BELOW,
  ERASE_ROW,
  moveUp,
  SYNCHRONIZED,
} from "./frame.ts";
import type { LiveRegion, LiveRegionOptions, RegionContent, ScreenSize } from "./live_region.ts";
import { OpenLine } from "./open_line.ts";
import { cutStyledText, getStyledWidth, splitTokens } from "./styled_text.ts";

/** Time between redraws that output causes: 30 a second. */
const FRAME_MS = 1_000 / 30;

/** Time after the last change of the size until the region is drawn again. */
const RESIZE_MS = 50;

/**
 * The same for a terminal that reports a size late: tmux applies a size at once, and then reports no other one for
 * 250 ms. What is drawn meanwhile would be broken at a width that is not known, and its rows would remain.
 */
const LATE_RESIZE_MS = 300;

/** Unwritten characters from which on more output is not welcome. */
const HIGH_WATER_MARK = 65_536;

type Reflow = Exclude<TerminalFeatures["reflow"], "late">;

/** The region on the screen, and the size of the screen when it was drawn. */
interface ShownRegion extends DrawnRows {
  readonly size: ScreenSize;
}

/** Writes output and draws the region below it, one frame after the other. */
export class DrawnRegion implements LiveRegion {
  readonly #options: LiveRegionOptions;
  readonly #line = new OpenLine();
  #content: RegionContent = { rows: [] };
  #pending: string[] = [];
  /** Whether the output, with what is pending, ends in the middle of a line. */
  #isLineOpen = false;
  #shown: ShownRegion | undefined;
  /** Whether rows of the region may show something else. */
  #isDamaged = false;
  #state: "active" | "suspended" | "closed" = "active";
  /** Time from the last frame to the next one, in milliseconds; infinite if nothing has changed. */
  #delayMs = Number.POSITIVE_INFINITY;
  #lastFrameAt = Number.NEGATIVE_INFINITY;
  #reflow: Reflow = "unknown";
  /** The size of the screen that was seen last. */
  #seenSize: ScreenSize | undefined;
  /** Time until which nothing is drawn, because the size is still changing. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  /** Characters that have been printed, but not written. */
  #unwritten = 0;
  #onWelcome = Promise.withResolvers<void>();

  constructor(options: LiveRegionOptions) {
    this.#options = options;
  }

  print(chunk: string): Promise<void> {
    return this.#append(chunk, FRAME_MS);
  }

  printLines(lines: readonly string[]): Promise<void> {
    return this.#append(this.#joinLines(lines), FRAME_MS);
  }

  draw(lines: readonly string[], content: RegionContent): Promise<void> {
    this.#content = content;
    if (lines.length > 0) return this.#append(this.#joinLines(lines), 0);
    this.#request(0);
    return Promise.resolve();
  }

  update(content: RegionContent, cause: "key" | "output" = "output"): void {
    this.#content = content;
    this.#request(cause === "key" ? 0 : FRAME_MS);
  }

  resized(): void {
    this.#hold();
    this.#cancel();
    this.#request(0);
  }

  redraw(): void {
    this.#isDamaged = true;
    this.#request(0);
  }

  async flush(): Promise<void> {
    do {
      await this.#writing;
      if (this.#state !== "suspended" && this.#delayMs !== Number.POSITIVE_INFINITY) {
        this.#writeFrame();
      }
    } while (this.#writing);
  }

  send(sequence: string): Promise<void> {
    return this.#write(sequence, 0);
  }

  async suspend(): Promise<void> {
    if (this.#state !== "active") return;
    await this.#untilSettled();
    if (this.#state === "active") await this.#leave("suspended");
  }

  async resume(): Promise<void> {
    if (this.#state === "closed") return;
    this.#state = "active";
    this.#shown = undefined;
    if (this.#line.isOpen) this.#line.restart();
    void this.#write(`\r${ERASE_BELOW}`, 0);
    this.#delayMs = 0;
    await this.flush();
  }

  async close(): Promise<void> {
    if (this.#state !== "closed") await this.#leave("closed");
  }

  async #leave(state: "suspended" | "closed"): Promise<void> {
    const wasActive = this.#state === "active";
    this.#state = state;
    this.#cancel();
    await this.#writing;
    if (!wasActive && this.#pending.length === 0) return;
    this.#writeFrame();
    await this.#writing;
  }

  /** Draws a frame `delayMs` after the last one, or at once if that time has passed. */
  #request(delayMs: number): void {
    this.#delayMs = Math.min(this.#delayMs, delayMs);
    if (this.#state !== "suspended" && !this.#writing) this.#schedule();
  }

  #append(chunk: string, delayMs: number): Promise<void> {
    if (chunk === "" || this.#options.output.closed.aborted) return Promise.resolve();
    this.#pending.push(chunk);
    this.#isLineOpen = !chunk.endsWith("\n");
    this.#unwritten += chunk.length;
    this.#request(delayMs);
    if (this.#unwritten <= HIGH_WATER_MARK) return Promise.resolve();
    return this.#onWelcome.promise;
  }

  #joinLines(lines: readonly string[]): string {
    const end = this.#isLineOpen ? "\n" : "";
    return end + lines.map((line) => `${line}\n`).join("");
  }

  /** Draws nothing until the size has settled. */
  #hold(): void {
    const { features: { reflow }, now } = this.#options;
    this.#heldUntil = now() + (reflow === "late" ? LATE_RESIZE_MS : RESIZE_MS);
  }

  /** Waits until the size has settled: the rows that are erased are known then. */
  async #untilSettled(): Promise<void> {
    const { now, startTimer } = this.#options;
    this.#holdIfResized();
    while (this.#state === "active" && now() < this.#heldUntil) {
      const { promise, resolve } = Promise.withResolvers<void>();
      startTimer(resolve, this.#heldUntil - now());
      await promise;
    }
  }

  /** The size of the screen may have changed before the signal arrives. */
  #holdIfResized(): void {
    const { columns, rows } = this.#options.getSize();
    const seen = this.#seenSize;
    if (seen?.columns === columns && seen.rows === rows) return;
    this.#seenSize = { columns, rows };
    if (seen) this.#hold();
  }

  #schedule(): void {
    const { now, startTimer } = this.#options;
    this.#holdIfResized();
    const waitMs = Math.max(this.#lastFrameAt + this.#delayMs, this.#heldUntil) - now();
    if (waitMs <= 0 || this.#state === "closed") return this.#writeFrame();
    this.#cancelTimer ??= startTimer(() => {
      this.#cancelTimer = undefined;
      if (!this.#writing) this.#schedule();
    }, waitMs);
  }

  #cancel(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #writeFrame(): void {
    this.#cancel();
    this.#delayMs = Number.POSITIVE_INFINITY;
    this.#lastFrameAt = this.#options.now();
    const output = this.#pending.join("");
    this.#pending = [];
    const frame = this.#createFrame(output);
    const [start, end] = this.#options.features.isSynchronized ? SYNCHRONIZED : ["", ""];
    if (frame !== "") void this.#write(start + frame + end, output.length);
  }

  #write(text: string, printed: number): Promise<void> {
    // A write fails only when the terminal is closed.
    const writing = this.#options.output.write(text).catch(() => {}).then(() => {
      this.#unwritten -= printed;
      if (this.#writing === writing) this.#writing = undefined;
      if (this.#unwritten <= HIGH_WATER_MARK) {
        this.#onWelcome.resolve();
        this.#onWelcome = Promise.withResolvers();
      }
      if (!this.#writing && this.#delayMs !== Number.POSITIVE_INFINITY) {
        this.#request(this.#delayMs);
      }
    });
    this.#writing = writing;
    return writing;
  }

  /** Decides for a change of the size whether the terminal has broken the rows of the region. */
  #chooseReflow(): Reflow {
    const { features: { reflow }, now } = this.#options;
    if (reflow !== "late") return reflow;
    return now() < this.#heldUntil ? "unknown" : "yes";
  }

  #createFrame(output: string): string {
    const { columns, rows } = this.#options.getSize();
    const size = { columns, rows };
    const shown = this.#shown;
    const isResized = shown !== undefined &&
      (shown.size.columns !== columns || shown.size.rows !== rows);
    if (isResized) this.#reflow = this.#chooseReflow();
    const next = this.#state === "active" ? fitContent(this.#content, size) : EMPTY;
    this.#shown = { ...next, size };
    const hasRegion = shown !== undefined && shown.rows.length > 0;
    const isKnown = !isResized && !this.#isDamaged;
    this.#isDamaged = false;
    if (output === "" && hasRegion && isKnown && next.rows.length > 0) {
      return changeRows(shown, next);
    }
    let frame = "";
    if (hasRegion) frame += this.#eraseRegion(shown, size);
    else if (isResized && !this.#isLineUnchanged(size)) frame += this.#line.release();
    const isContinued = output !== "" || next.rows.length === 0;
    if (isContinued) {
      if (this.#line.isOpen) frame += hasRegion ? this.#moveToLine() : "\r";
      frame += this.#line.start + this.#line.append(output, size.columns) + this.#line.end;
    }
    const isBelowText = this.#line.isOpen && (isContinued || !hasRegion);
    if (this.#state === "active") {
      return frame + (isBelowText && next.rows.length > 0 ? "\r\n" : "") + drawRows(next);
    }
    this.#isLineOpen = false;
    return frame + this.#line.release() + this.#line.end;
  }

  /** Erases the region. The open line above it continues on a new row if its end is not known after a resize. */
  #eraseRegion(shown: ShownRegion, size: ScreenSize): string {
    const rows = countRowsAboveCursor(shown, size, this.#reflow);
    const isReachable = rows + 1 < size.rows;
    if (!isReachable || !this.#isLineKnown(shown, size)) this.#line.restart();
    return `${moveUp(rows)}\r${ERASE_BELOW}`;
  }

  /** Moves from the top of the region to the beginning of the last row of the open line. */
  #moveToLine(): string {
    // A row that a resize has broken or joined may be marked as continued on the next one. Erasing it removes the mark,
    // which a row of a longer line needs.
    return moveUp(1) + (this.#line.row.rowsBefore === 0 ? ERASE_ROW : "");
  }

  #isLineKnown(shown: ShownRegion, size: ScreenSize): boolean {
    if (shown.size.columns === size.columns) return true;
    switch (this.#reflow) {
      case "yes":
        return this.#line.resize(size.columns);
      case "except_cursor":
        // The emulator of such terminals moves the cursor down when it breaks rows below it.
        return this.#line.resize(size.columns) && !isRegionBroken(shown, size);
      case "no":
        return this.#isLineUnchanged(size);
      case "unknown":
        return this.#isLineUnchanged(size) && !isRegionBroken(shown, size);
    }
  }

  /** Whether a resize does not change the rows of the open line, in any terminal. */
  #isLineUnchanged({ columns }: ScreenSize): boolean {
    const { rowsBefore, width } = this.#line.row;
    return rowsBefore === 0 && width <= columns;
  }
}

const EMPTY: DrawnRows = { rows: [], cursor: { row: 0, column: 0 } };

/** Cuts the content to the size of the screen. One row is left for output. */
function fitContent({ rows, cursor }: RegionContent, size: ScreenSize): DrawnRows {
  const lastRow = rows.length - 1;
  const { row, column } = cursor ??
    { row: lastRow, column: getStyledWidth(rows.at(-1) ?? "") };
  const capacity = Math.max(size.rows - 1, 0);
  const start = Math.max(Math.min(rows.length - capacity, row), 0);
  const fitting = rows.slice(start, start + capacity).map((text) =>
    cutStyledText(text, size.columns - 1)
  );
  if (fitting.length === 0) return EMPTY;
  return {
    rows: fitting,
    cursor: {
      row: Math.max(Math.min(row - start, fitting.length - 1), 0),
      column: Math.max(Math.min(column, size.columns - 1), 0),
    },
  };
}

/** Whether a terminal of this width has broken rows of the region, if it breaks lines again. */
function isRegionBroken({ rows }: DrawnRows, { columns }: ScreenSize): boolean {
  return rows.some((row) => getStyledWidth(row) > columns);
}

/** Returns the number of rows of the screen between the top of the region and the cursor. */
function countRowsAboveCursor(
  { rows, cursor }: DrawnRows,
  { columns }: ScreenSize,
  reflow: Reflow,
): number {
  // Where it is unknown, rows of the old region may remain; output is not erased.
  if (reflow === "no" || reflow === "unknown") return cursor.row;
  const isCursorRowBroken = reflow === "yes";
  // Too few rows leave rows of the old region on the screen; too many would erase output.
  const countRows = (width: number) => Math.max(Math.ceil(width / columns), 1);
  const above = rows.slice(0, cursor.row).map((row) => countRows(getBrokenWidth(row)));
  const cursorRows = isCursorRowBroken ? countRows(cursor.column) - 1 : 0;
  return above.reduce((sum, count) => sum + count, cursorRows);
}

/** Returns the columns of a row that a terminal breaks. Some terminals do not count the spaces at its end. */
function getBrokenWidth(row: string): number {
  let text = "";
  for (const token of splitTokens(row)) if (token.type === "text") text += token.text;
  return getTextWidth(text.trimEnd());
}
