/**
 * Word wrapping of styled text that arrives in parts.
 *
 * @module
 */

import { getTextWidth, isWide, splitGraphemes } from "../text_width.ts";
import { appendSpan } from "./append_span.ts";
import type { Line, Span } from "./line.ts";
import { getLineWidth } from "./line_width.ts";

/** Options for {@linkcode RowWriter}. */
export interface RowWriterOptions {
  /** Returns the columns of the terminal, which may change before a row is complete. */
  readonly getColumns: () => number;
  /** Returns the text before a row by its number, from 0. Default: nothing. */
  readonly getPrefix?: (row: number) => Line;
}

/** Matches line breaks, groups of spaces where a line may break, and the text between them. */
const TOKENS =
  /\n|[ \t\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+|[^\n \t\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+/g;

/** Matches text of Latin, Greek and Cyrillic letters and punctuation, whose characters take one column each. */
const NARROW =
  /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e]*$/;

/** Matches characters that are wide, though their script puts spaces between words. */
const HANGUL = /\p{Script=Hangul}/u;

/** Matches characters before which no line breaks, also between wide characters. */
const CLOSING = /^[、。，．！？：；）」』】〉》〕｝ーっゃゅょッャュョ％…,.;:!?)\]}%'"”’»]/;

/** Matches characters behind which no line breaks, also between wide characters. */
const OPENING = /[（「『【〈《〔｛＄￥([{'"“‘«]$/;

/** Columns of a tab. */
const TAB = "    ";

/** Minimum columns of the text of a row, however wide its prefix is. */
const MIN_COLUMNS = 2;

/** A row that is being written. */
interface OpenRow {
  spans: Span[];
  /** Number of spans of the prefix. */
  readonly prefixLength: number;
  /** Columns of the prefix and the spans. */
  column: number;
  /** Columns of the terminal. */
  readonly terminalColumns: number;
  /** Columns of the row, which has some for its text, however wide its prefix is. */
  readonly columns: number;
  /** Whether text has been added behind the prefix. */
  hasText: boolean;
}

/**
 * Breaks text into rows before the word that does not fit. A word that is wider than a row is broken between graphemes,
 * and scripts without spaces, such as Chinese, between their characters. A line feed ends a row.
 *
 * The rows do not depend on how the text is divided among calls, if it is not divided within a grapheme.
 */
export class RowWriter {
  readonly #options: RowWriterOptions;
  #rows: Line[] = [];
  #row: OpenRow | undefined;
  /** Number of rows before the open one. */
  #rowCount = 0;
  #word: Span[] = [];
  #wordWidth = 0;
  #spaces: Span[] = [];
  /** Whether the word is wider than a row, so that its parts are added as they arrive. */
  #isBreaking = false;
  /** Whether the last grapheme lets the line break behind it. */
  #mayBreak = false;

  constructor(options: RowWriterOptions) {
    this.#options = options;
  }

  /** Adds text. Returns the rows that are complete. */
  write(spans: Iterable<Span>): Line[] {
    for (const span of spans) {
      for (const [token] of span.text.matchAll(TOKENS)) this.#writeToken(token, span);
    }
    return this.#takeRows();
  }

  /** Ends the row. Returns all rows; an empty one, with its prefix, if nothing has been written since the last end. */
  end(): Line[] {
    this.#endRow();
    return this.#takeRows();
  }

  /** Returns the rows that `write()` followed by `end()` would return, without changing anything. */
  preview(spans: Iterable<Span>): Line[] {
    const copy = new RowWriter(this.#options);
    copy.#row = this.#row && { ...this.#row, spans: [...this.#row.spans] };
    copy.#rowCount = this.#rowCount;
    copy.#word = [...this.#word];
    copy.#wordWidth = this.#wordWidth;
    copy.#spaces = [...this.#spaces];
    copy.#isBreaking = this.#isBreaking;
    copy.#mayBreak = this.#mayBreak;
    return [...copy.write(spans), ...copy.end()];
  }

  #takeRows(): Line[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  #writeToken(token: string, style: Span): void {
    if (token === "\n") return this.#endRow();
    const first = token.charCodeAt(0);
    const isSpace = first === 32 || first === 9 || (first > 0x167f && /^\s/.test(token));
    if (isSpace) return this.#addSpaces({ ...style, text: token.replaceAll("\t", TAB) });
    if (NARROW.test(token)) {
      this.#breakBefore(token, false);
      return this.#addToWord({ ...style, text: token }, token.length);
    }
    for (const text of splitGraphemes(token)) {
      const isBreakable = isWide(text) && !HANGUL.test(text);
      this.#breakBefore(text, isBreakable);
      this.#addToWord({ ...style, text }, getTextWidth(text));
      this.#mayBreak = isBreakable;
    }
  }

  /** Ends the word before a wide character, or behind one. */
  #breakBefore(text: string, isBreakable: boolean): void {
    if (!isBreakable && !this.#mayBreak || CLOSING.test(text)) return;
    if (!OPENING.test(this.#word.at(-1)?.text ?? "")) this.#commitWord();
  }

  #addSpaces(span: Span): void {
    this.#commitWord();
    appendSpan(this.#spaces, span);
  }

  #addToWord(span: Span, width: number): void {
    this.#mayBreak = false;
    if (this.#isBreaking) {
      // Text that is not narrow arrives in single graphemes.
      return NARROW.test(span.text) ? this.#addBroken(span) : this.#addPiece(span, width);
    }
    appendSpan(this.#word, span);
    this.#wordWidth += width;
    if (this.#wordWidth <= this.#getCapacity()) return;
    if (this.#row?.hasText) this.#finishRow();
    const word = this.#word;
    this.#word = [];
    this.#wordWidth = 0;
    this.#spaces = [];
    this.#isBreaking = true;
    for (const part of word) this.#addBroken(part);
  }

  /** Returns the columns of a word that begins a row: the current one if it is empty, else the next. */
  #getCapacity(): number {
    const row = this.#openRow();
    if (!row.hasText) return row.columns - row.column;
    const prefix = this.#options.getPrefix?.(this.#rowCount + 1) ?? [];
    return Math.max(row.columns - getLineWidth(prefix), MIN_COLUMNS);
  }

  /** Adds a part of a word that is wider than a row. */
  #addBroken(span: Span): void {
    if (!NARROW.test(span.text)) {
      for (const text of splitGraphemes(span.text)) {
        this.#addPiece({ ...span, text }, getTextWidth(text));
      }
      return;
    }
    for (let at = 0; at < span.text.length;) {
      const { columns, column } = this.#openRow();
      const text = span.text.slice(at, at + Math.max(columns - column, 1));
      this.#addPiece({ ...span, text }, text.length);
      at += text.length;
    }
  }

  /** Adds text that is not broken, on the next row if it does not fit. */
  #addPiece(span: Span, width: number): void {
    let row = this.#openRow();
    if (row.column + width > row.columns && row.hasText) {
      this.#finishRow();
      row = this.#openRow();
    }
    appendSpan(row.spans, span);
    row.column += width;
    row.hasText = true;
  }

  /** Places the word behind the spaces, or on the next row. */
  #commitWord(): void {
    this.#isBreaking = false;
    this.#mayBreak = false;
    if (this.#word.length === 0) return;
    let row = this.#openRow();
    const spacesWidth = getLineWidth(this.#spaces);
    if (row.hasText && row.column + spacesWidth + this.#wordWidth > row.columns) {
      this.#finishRow();
      row = this.#openRow();
    } else if (row.hasText) {
      for (const span of this.#spaces) appendSpan(row.spans, span);
      row.column += spacesWidth;
    }
    for (const span of this.#word) appendSpan(row.spans, span);
    row.column += this.#wordWidth;
    row.hasText = true;
    this.#word = [];
    this.#wordWidth = 0;
    this.#spaces = [];
  }

  #endRow(): void {
    this.#commitWord();
    this.#spaces = [];
    this.#openRow();
    this.#finishRow();
  }

  #openRow(): OpenRow {
    const { getColumns, getPrefix } = this.#options;
    const columns = getColumns();
    if (this.#row?.terminalColumns === columns) return this.#row;
    const resized = this.#row;
    const spans = [...getPrefix?.(this.#rowCount) ?? []];
    const column = getLineWidth(spans);
    const row = {
      spans,
      prefixLength: spans.length,
      column,
      terminalColumns: columns,
      columns: Math.max(columns, column + MIN_COLUMNS),
      hasText: false,
    };
    this.#row = row;
    return resized ? this.#rewrite(resized) : row;
  }

  /** Writes the text of a row again, after the width of the terminal has changed. */
  #rewrite({ spans, prefixLength }: OpenRow): OpenRow {
    const [word, width, spaces, isBreaking] = [
      this.#word,
      this.#wordWidth,
      this.#spaces,
      this.#isBreaking,
    ];
    [this.#word, this.#wordWidth, this.#spaces, this.#isBreaking] = [[], 0, [], false];
    for (const span of spans.slice(prefixLength)) {
      for (const [token] of span.text.matchAll(TOKENS)) this.#writeToken(token, span);
    }
    this.#commitWord();
    [this.#word, this.#wordWidth, this.#spaces, this.#isBreaking] = [
      word,
      width,
      spaces,
      isBreaking,
    ];
    return this.#openRow();
  }

  #finishRow(): void {
    if (!this.#row) return;
    this.#rows.push(this.#row.spans);
    this.#row = undefined;
    this.#rowCount++;
  }
}
