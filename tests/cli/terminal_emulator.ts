/**
 * A terminal emulator for tests: bytes in, screen and scrollback out.
 *
 * @module
 */

import xterm from "@xterm/headless";

/** Options for {@linkcode TerminalEmulator}. */
export interface EmulatorOptions {
  /** Columns of the screen. Default: 40. */
  readonly columns?: number;
  /** Rows of the screen. Default: 10. */
  readonly rows?: number;
  /** Rows above the screen that are kept. Default: 10,000. */
  readonly scrollback?: number;
}

/** A terminal that can be read. */
export class TerminalEmulator implements Disposable {
  readonly #terminal: xterm.Terminal;
  readonly #written: string[] = [];

  constructor({ columns = 40, rows = 10, scrollback = 10_000 }: EmulatorOptions = {}) {
    this.#terminal = new xterm.Terminal({
      cols: columns,
      rows,
      scrollback,
      allowProposedApi: true,
    });
  }

  /** Columns of the screen. */
  get columns(): number {
    return this.#terminal.cols;
  }

  /** Rows of the screen. */
  get rows(): number {
    return this.#terminal.rows;
  }

  /** Everything that was written, one text for each write. */
  get written(): readonly string[] {
    return this.#written;
  }

  /** Writes to the terminal, as an `Output` does. */
  write(content: string | Uint8Array): Promise<void> {
    this.#written.push(
      typeof content === "string" ? content : new TextDecoder().decode(content),
    );
    return new Promise((resolve) => this.#terminal.write(content, resolve));
  }

  /** Changes the size, as the user does. */
  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** The rows of scrollback and screen without the empty ones at the end. */
  get text(): string {
    return this.#readRows(0).join("\n").trimEnd();
  }

  /** The rows of the screen without the empty ones at the end. */
  get screen(): string {
    return this.#readRows(this.#terminal.buffer.active.baseY).join("\n").trimEnd();
  }

  /** The lines of scrollback and screen: rows that the terminal has broken are joined. */
  get lines(): string {
    const { active } = this.#terminal.buffer;
    let lines = "";
    for (let row = 0; row < active.length; row++) {
      const line = active.getLine(row);
      const isContinued = active.getLine(row + 1)?.isWrapped === true;
      lines += line?.translateToString(!isContinued) ?? "";
      if (!isContinued) lines += "\n";
    }
    return lines.trimEnd();
  }

  /** Row and column of the cursor on the screen, from 0. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    return { row: cursorY, column: cursorX };
  }

  /** The text of the screen with a `▏` at the cursor. */
  get screenWithCursor(): string {
    const { row, column } = this.cursor;
    const { active } = this.#terminal.buffer;
    const rows = this.#readRows(active.baseY);
    const line = active.getLine(active.baseY + row);
    const before = line?.translateToString(false, 0, column) ?? "";
    const after = line?.translateToString(true, column) ?? "";
    rows[row] = `${before}▏${after}`;
    return rows.join("\n").trimEnd();
  }

  /** Whether pasted texts are marked. */
  get hasPasteMode(): boolean {
    return this.#terminal.modes.bracketedPasteMode;
  }

  /** Whether the character at a position of the screen is bold, faint or in a color. */
  hasStyle(row: number, column: number): boolean {
    const { active } = this.#terminal.buffer;
    const cell = active.getLine(active.baseY + row)?.getCell(column);
    return cell !== undefined && !cell.isAttributeDefault();
  }

  /** The color of the character at a position of the screen, as a number that is the same for the same color. */
  getColor(row: number, column: number): number {
    const { active } = this.#terminal.buffer;
    return active.getLine(active.baseY + row)?.getCell(column)?.getFgColor() ?? -1;
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose();
  }

  #readRows(start: number): string[] {
    const { active } = this.#terminal.buffer;
    return Array.from(
      { length: active.length - start },
      (_, row) => active.getLine(start + row)?.translateToString(true) ?? "",
    );
  }
}
