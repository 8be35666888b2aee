/**
 * One truncation rule for all that tools tell the model: the head and the tail stay, the middle goes.
 *
 * @module
 */

/** How much text of one answer reaches the model. */
export const OUTPUT_LIMIT = 40_000;

/** Text that may have lost its middle. */
export interface TruncatedText {
  /** The text; where the middle is missing, a line in brackets says how much. */
  readonly text: string;
  /** Characters of the whole text. */
  readonly totalCharacters: number;
  /** Whether anything is missing. */
  readonly truncated: boolean;
}

/** What {@linkcode truncateMiddle} and {@linkcode TextCollector} can be told. */
export interface OutputLimitOptions {
  /** Most characters to keep. Default: 40,000. */
  readonly limit?: number;
  /** What the line in brackets adds, for example where the whole text can be read. */
  readonly hint?: string;
}

/** Keeps head and tail of a text; never cuts a character, and cuts between lines where it can. */
export function truncateMiddle(text: string, options: OutputLimitOptions = {}): TruncatedText {
  const collector = new TextCollector(options.limit);
  collector.push(text);
  return collector.finish(options.hint);
}

/** Collects a text that arrives in pieces and holds no more of it than will be shown. */
export class TextCollector {
  readonly #half: number;
  #head = "";
  #tail = "";
  #total = 0;
  #lines = 0;

  /** Makes a collector that keeps `limit` characters. */
  constructor(limit: number = OUTPUT_LIMIT) {
    this.#half = Math.floor(limit / 2);
  }

  /** Characters so far. */
  get totalCharacters(): number {
    return this.#total;
  }

  /** Whether the text so far is more than will be kept. */
  get isOverLimit(): boolean {
    return this.#total > this.#half * 2;
  }

  /** Takes the next piece. */
  push(piece: string): void {
    this.#total += piece.length;
    this.#lines += countNewlines(piece);
    const room = this.#half - this.#head.length;
    this.#head += piece.slice(0, Math.max(room, 0));
    this.#tail += room >= piece.length ? "" : piece.slice(Math.max(room, 0));
    // Trimmed now and then, not at every piece: the cost per character stays constant.
    if (this.#tail.length > this.#half * 4) this.#tail = this.#tail.slice(-this.#half);
  }

  /** The text as it will be shown. */
  finish(hint?: string): TruncatedText {
    const totalCharacters = this.#total;
    if (!this.isOverLimit) {
      return { text: this.#head + this.#tail, totalCharacters, truncated: false };
    }
    const head = trimHead(this.#head);
    const tail = trimTail(this.#tail.slice(-this.#half));
    const lines = this.#lines - countNewlines(head) - countNewlines(tail);
    const characters = totalCharacters - head.length - tail.length;
    const missing = `${formatNumber(lines)} lines, ${formatNumber(characters)} characters left out`;
    const mark = `[… ${missing}${hint === undefined ? "" : `; ${hint}`} …]`;
    const lineBreak = head.endsWith("\n") ? "" : "\n";
    return { text: `${head}${lineBreak}${mark}\n${tail}`, totalCharacters, truncated: true };
  }
}

/** A number with separators between its thousands, the same in every locale. */
export function formatNumber(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** The beginning of a text, at most `length` long, without half a character at its end. */
export function truncateEnd(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, isLowSurrogate(text.charCodeAt(length)) ? length - 1 : length);
}

/** Ends after a line where the last one is near, else before a half character. */
function trimHead(text: string): string {
  const lineEnd = text.lastIndexOf("\n") + 1;
  if (lineEnd > text.length * 0.8) return text.slice(0, lineEnd);
  return isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.slice(0, -1) : text;
}

/** Starts with a line where the first one is near, else after a half character. */
function trimTail(text: string): string {
  const lineStart = text.indexOf("\n") + 1;
  if (lineStart > 0 && lineStart < text.length * 0.2) return text.slice(lineStart);
  return isLowSurrogate(text.charCodeAt(0)) ? text.slice(1) : text;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
