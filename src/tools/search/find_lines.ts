/**
 * Finds the lines of a file that match a pattern.
 *
 * @module
 */

import { detectEncoding } from "../files/text_content.ts";
import type { CompiledPattern } from "./pattern.ts";
import { containsText } from "./required_literal.ts";

/** A matching line. */
export interface LineHit {
  /** Number of the line, from 1. */
  readonly line: number;
  /** Index of the match in the line, in UTF-16 code units; 0 in the later lines of a match. */
  readonly column: number;
  /** The line, if the search has it. */
  readonly text?: string;
  /** Index of its first byte in a UTF-8 file, if the search has it. */
  readonly offset?: number;
}

/** Result of {@linkcode findLines}. */
export interface FileLines {
  /** The matching lines in order. */
  readonly hits: readonly LineHit[];
  /** Whether the file is binary: it has a NUL and is not UTF-16. */
  readonly isBinary: boolean;
}

/** Options for {@linkcode findLines}. */
export interface FindLinesOptions {
  /** The pattern. */
  readonly pattern: CompiledPattern;
  /** Whether a match may span lines. */
  readonly multiline: boolean;
  /** Maximum number of matching lines. */
  readonly limit: number;
}

/** Returns the matching lines. */
export function findLines(bytes: Uint8Array, options: FindLinesOptions): FileLines {
  const decoded = decodeSearched(bytes, options.multiline);
  const { literal } = options.pattern;
  const hits = decoded.isPlain && literal !== undefined
    ? findInLines(decoded.text, { ...options, literal })
    : findInText(decoded, options);
  return { hits, isBinary: decoded.isBinary };
}

/** Whether a file may have matching lines: without the text that each match contains, it has none. */
export function mayHaveLines(bytes: Uint8Array, { literal }: CompiledPattern): boolean {
  return literal === undefined || detectEncoding(bytes) !== "utf-8" ||
    containsText(bytes, literal);
}

/** A text to search. */
interface SearchedText {
  readonly text: string;
  readonly isBinary: boolean;
  /** Whether all characters are ASCII and none is `\r`, which ends a line in JavaScript. */
  readonly isPlain: boolean;
}

/** Decodes a file for a search. As in ripgrep, a NUL separates the lines of a binary file, unless a match may span them. */
function decodeSearched(bytes: Uint8Array, multiline: boolean): SearchedText {
  const encoding = detectEncoding(bytes);
  const decoded = new TextDecoder(encoding).decode(bytes);
  const isBinary = encoding === "utf-8" && decoded.includes("\0");
  const text = isBinary && !multiline ? decoded.replaceAll("\0", "\n") : decoded;
  const withoutReturns = multiline || !text.includes("\r\n") ? text : text.replaceAll("\r\n", "\n");
  // As many characters as bytes: each is ASCII, or replaces an invalid byte.
  const isAscii = decoded.length === bytes.length && !text.includes("\ufffd");
  return { text: withoutReturns, isBinary, isPlain: isAscii && !withoutReturns.includes("\r") };
}

function findInText(
  { text, isPlain }: SearchedText,
  { pattern, multiline, limit }: FindLinesOptions,
): LineHit[] {
  const expression = isPlain ? pattern.ascii : pattern.unicode;
  const hits: LineHit[] = [];
  const lines = new LineCounter(text);
  let next = 0;
  while (next <= text.length && hits.length < limit) {
    const match = findMatch(expression, text, next);
    // The text after the last line break is not a line.
    if (!match || (match.index === text.length && isLineStart(text, match.index))) break;
    const end = match.index + match[0].length;
    const first = lines.advanceTo(match.index);
    if (hits.at(-1)?.line !== first.number) {
      const hit = { line: first.number, column: match.index - first.start };
      // The characters of a plain text are the bytes of the file.
      hits.push(isPlain ? { ...hit, offset: first.start } : hit);
    }
    const last = lines.advanceTo(Math.max(end - 1, match.index));
    for (let line = first.number + 1; line <= last.number && hits.length < limit; line++) {
      hits.push({ line, column: 0 });
    }
    // Line by line, the rest of a matching line is of no interest.
    next = multiline ? Math.max(end, skipCharacter(text, match.index)) : last.end + 1;
  }
  return hits;
}

/** Matches only the lines that contain a text. */
function findInLines(
  text: string,
  { pattern: { ascii }, limit, literal }: FindLinesOptions & { readonly literal: string },
): LineHit[] {
  const hits: LineHit[] = [];
  const lines = new LineCounter(text);
  for (let next = 0; hits.length < limit;) {
    const index = text.indexOf(literal, next);
    if (index === -1) break;
    const { number, start, end } = lines.advanceTo(index);
    ascii.lastIndex = 0;
    const match = ascii.exec(text.slice(start, end));
    if (match) hits.push({ line: number, column: match.index, offset: start });
    next = end + 1;
  }
  return hits;
}

/**
 * Finds the next match. V8 also finds empty ones between the surrogates of a character, where assertions such as `(?<!a)`
 * hold; they are none.
 */
function findMatch(expression: RegExp, text: string, start: number): RegExpExecArray | null {
  expression.lastIndex = start;
  for (;;) {
    const match = expression.exec(text);
    if (!match || !isInCharacter(text, match.index)) return match;
    expression.lastIndex = match.index + 1;
  }
}

/** Whether an index is between two surrogates. */
function isInCharacter(text: string, index: number): boolean {
  return index > 0 && (text.codePointAt(index - 1) ?? 0) > 0xffff;
}

/** Returns the index after a character. From within a surrogate pair, an expression would match at its start again. */
function skipCharacter(text: string, index: number): number {
  return index + ((text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1);
}

function isLineStart(text: string, index: number): boolean {
  return index === 0 || text[index - 1] === "\n";
}

interface CountedLine {
  readonly number: number;
  /** Index of its first character. */
  readonly start: number;
  /** Index of its line break, or the end of the text. */
  readonly end: number;
}

/** Numbers the lines of a text from its beginning to its end. */
class LineCounter {
  readonly #text: string;
  #number = 1;
  #start = 0;
  #end: number;

  constructor(text: string) {
    this.#text = text;
    this.#end = this.#findEnd();
  }

  /** Returns the line of an index, which is not before the last one. */
  advanceTo(index: number): CountedLine {
    while (this.#end < index && this.#end < this.#text.length) {
      this.#number++;
      this.#start = this.#end + 1;
      this.#end = this.#findEnd();
    }
    return { number: this.#number, start: this.#start, end: this.#end };
  }

  #findEnd(): number {
    const end = this.#text.indexOf("\n", this.#start);
    return end === -1 ? this.#text.length : end;
  }
}
