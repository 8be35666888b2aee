/**
 * Truncation of tool output for the model: keeps the beginning and the end, replaces the middle by a notice.
 *
 * @module
 */

/** Maximum length of the text in a tool result, in characters. */
export const OUTPUT_LIMIT = 40_000;

/** Text that may be truncated in the middle. */
export interface TruncatedText {
  /** The text, with a notice in brackets in the place of a removed middle. */
  readonly text: string;
  /** Length of the complete text, in characters. */
  readonly totalCharacters: number;
  /** Whether the middle was removed. */
  readonly truncated: boolean;
}

/** Options for {@linkcode truncateMiddle}. */
export interface OutputLimitOptions {
  /** Maximum length in characters, without the notice. Default: 40,000. */
  readonly limit?: number;
  /** Text appended to the notice, such as where to read the complete output. */
  readonly hint?: string;
}

/** Removes the middle of a long text. Cuts between characters, and between lines where possible. */
export function truncateMiddle(text: string, options: OutputLimitOptions = {}): TruncatedText {
  const collector = new TextCollector(options.limit);
  collector.push(text);
  return collector.finish(options.hint);
}

/** Truncates a text that arrives in chunks; its memory is bounded. */
export class TextCollector {
  readonly #half: number;
  #head = "";
  #tail = "";
  #total = 0;
  #lines = 0;

  constructor(limit: number = OUTPUT_LIMIT) {
    this.#half = Math.floor(limit / 2);
  }

  /** Length of the text so far, in characters. */
  get totalCharacters(): number {
    return this.#total;
  }

  /** Whether the text so far exceeds the limit. */
  get isOverLimit(): boolean {
    return this.#total > this.#half * 2;
  }

  /** Adds the next chunk. */
  push(chunk: string): void {
    this.#total += chunk.length;
    this.#lines += countNewlines(chunk);
    const remaining = Math.max(this.#half - this.#head.length, 0);
    this.#head += chunk.slice(0, remaining);
    this.#tail += chunk.slice(remaining);
    // The tail is trimmed only when it is four times too long, so that the cost per character stays constant.
    if (this.#tail.length > this.#half * 4) this.#tail = this.#tail.slice(-this.#half);
  }

  /** Returns the truncated text. */
  finish(hint?: string): TruncatedText {
    const totalCharacters = this.#total;
    if (!this.isOverLimit) {
      return { text: this.#head + this.#tail, totalCharacters, truncated: false };
    }
    const head = trimHead(this.#head);
    const tail = trimTail(this.#tail.slice(-this.#half));
    const lines = this.#lines - countNewlines(head) - countNewlines(tail);
    const characters = totalCharacters - head.length - tail.length;
    const omitted = `${formatNumber(lines)} lines, ${formatNumber(characters)} characters omitted`;
    const notice = `[… ${omitted}${hint === undefined ? "" : `; ${hint}`} …]`;
    const lineBreak = head.endsWith("\n") ? "" : "\n";
    return { text: `${head}${lineBreak}${notice}\n${tail}`, totalCharacters, truncated: true };
  }
}

/** Formats an integer with thousands separators, as `40,000`, in every locale. */
export function formatNumber(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Returns at most the first `length` code units of a text, without splitting a surrogate pair. */
export function truncateEnd(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, isLowSurrogate(text.charCodeAt(length)) ? length - 1 : length);
}

/** Cuts after the last newline if it is near the end; otherwise drops a split surrogate. */
function trimHead(text: string): string {
  const lineEnd = text.lastIndexOf("\n") + 1;
  if (lineEnd > text.length * 0.8) return text.slice(0, lineEnd);
  const last = text.charCodeAt(text.length - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return isHighSurrogate ? text.slice(0, -1) : text;
}

/** Cuts after the first newline if it is near the start; otherwise drops a split surrogate. */
function trimTail(text: string): string {
  const lineStart = text.indexOf("\n") + 1;
  if (lineStart > 0 && lineStart < text.length * 0.2) return text.slice(lineStart);
  return isLowSurrogate(text.charCodeAt(0)) ? text.slice(1) : text;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function countNewlines(text: string): number {
  let count = 0;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) count++;
  return count;
}
