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

/** A color: one of the 256 of a terminal, or `#rrggbb`. */
export type TerminalColor = number | `#${string}`;

/** A part of a row whose characters have the same style. */
export interface StyledRun {
  readonly text: string;
  /** First column, from 0. */
  readonly column: number;
  /** Width in columns. */
  readonly width: number;
  /** Default: the color of the terminal. */
  readonly color?: TerminalColor;
  /** Default: the color of the terminal. */
  readonly background?: TerminalColor;
  readonly isBold: boolean;
  readonly isFaint: boolean;
  readonly isItalic: boolean;
  readonly isUnderlined: boolean;
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

  /** The rows of scrollback and screen with their styles, without the empty ones at the end. */
  readStyledRows(): StyledRun[][] {
    const { active } = this.#terminal.buffer;
    const rows = Array.from({ length: active.length }, (_, row) => readRuns(active.getLine(row)));
    return rows.slice(0, rows.findLastIndex((runs) => runs.length > 0) + 1);
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

function readRuns(line: xterm.IBufferLine | undefined): StyledRun[] {
  const runs: StyledRun[] = [];
  for (let column = 0; column < (line?.length ?? 0); column++) {
    const cell = line?.getCell(column);
    if (!cell || cell.getWidth() === 0) continue; // The second half of a wide character.
    const run = {
      ...readStyle(cell),
      column,
      text: cell.getChars() || " ",
      width: cell.getWidth(),
    };
    const previous = runs.at(-1);
    if (previous && hasSameStyle(previous, run)) {
      const { text, width } = previous;
      runs[runs.length - 1] = { ...previous, text: text + run.text, width: width + run.width };
    } else runs.push(run);
  }
  return runs.filter(({ text, background }) => text.trim() !== "" || background !== undefined);
}

type Style = Omit<StyledRun, "text" | "column" | "width">;

function readStyle(cell: xterm.IBufferCell): Style {
  const color = readColor(cell.getFgColorMode(), cell.getFgColor());
  const background = readColor(cell.getBgColorMode(), cell.getBgColor());
  const [front, back] = cell.isInverse() ? [background, color] : [color, background];
  return {
    ...(front !== undefined && { color: front }),
    ...(back !== undefined && { background: back }),
    isBold: cell.isBold() !== 0,
    isFaint: cell.isDim() !== 0,
    isItalic: cell.isItalic() !== 0,
    isUnderlined: cell.isUnderline() !== 0,
  };
}

/** The modes of a color in xterm: 0 for the default, 16 and 32 bits up for a palette, 48 for RGB. */
function readColor(mode: number, color: number): TerminalColor | undefined {
  if (mode === 0) return undefined;
  return mode === 0x3000000 ? `#${color.toString(16).padStart(6, "0")}` : color;
}

function hasSameStyle(run: StyledRun, other: StyledRun): boolean {
  const { text: _text, column: _column, width: _width, ...style } = run;
  return Object.entries(style).every(([name, value]) => other[name as keyof Style] === value) &&
    Object.keys(style).length === Object.keys(other).length - 3;
}
