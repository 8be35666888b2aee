/**
 * Sanitizes untrusted text for a terminal: removes escape sequences and control characters; removes bidirectional controls,
 * or shows them as code points.
 *
 * @module
 */

import { formatCodePoint } from "./code_point.ts";

/** Sanitizes a complete text. */
export function toPlainText(text: string): string {
  return new PlainTextFilter().push(text);
}

/** Replaces line breaks, tabs and groups of spaces by single spaces, and removes those at the ends. */
export function toOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** The construct that contains the next character. */
type FilterState = "text" | "escape" | "sequence" | "string" | "string_escape";

const ESCAPE = "\u001b";

/** C0 and C1 controls except tab and newline, DEL, and the bidirectional controls. */
// deno-lint-ignore no-control-regex -- matches control characters
const CONTROL_CHARACTER = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const CONTROL_CHARACTERS = new RegExp(CONTROL_CHARACTER, "g");

/** Options for {@linkcode PlainTextFilter}. */
export interface PlainTextOptions {
  /** Whether bidirectional controls are removed or shown, such as `<U+202E>`. Default: `remove`. */
  readonly bidi?: "remove" | "show";
}

/**
 * Sanitizes text that arrives in chunks, however it is split.
 *
 * Follows ECMA-48: sequences `ESC [ … final` (or the single character CSI), strings such as titles and links up to
 * their terminator, and other escapes. A string also ends at a line feed, so that an unterminated one does not remove
 * the rest of the text.
 */
export class PlainTextFilter {
  readonly #replace: (character: string) => string;
  #state: FilterState = "text";

  constructor({ bidi = "remove" }: PlainTextOptions = {}) {
    const showsBidi = bidi === "show";
    this.#replace = (character) =>
      showsBidi && character >= "\u202a" ? formatCodePoint(character) : "";
  }

  /** Sanitizes the next chunk. */
  push(chunk: string): string {
    if (this.#state === "text" && !CONTROL_CHARACTER.test(chunk)) return chunk;
    let plain = "";
    for (const character of chunk) {
      if (this.#isText(character)) plain += character;
    }
    return plain.replace(CONTROL_CHARACTERS, this.#replace);
  }

  /** Whether a character is text, which includes control characters outside of sequences. */
  #isText(character: string): boolean {
    switch (this.#state) {
      case "text":
        this.#state = getStartState(character);
        return this.#state === "text";
      case "escape":
        this.#state = getEscapeState(character);
        // A character that cannot end an escape is text.
        return character === "\n" || character > "~";
      case "sequence":
        return this.#readSequence(character);
      case "string":
        return this.#readString(character);
      case "string_escape":
        // ESC \ ends a string; any other escape ends it too, and starts another one.
        this.#state = character === "\\" ? "text" : getEscapeState(character);
        return false;
    }
  }

  #readSequence(character: string): boolean {
    if (character >= "@" && character <= "~") this.#state = "text";
    else if (character === ESCAPE) this.#state = "escape";
    // A character that is invalid in a sequence ends it.
    else if (character < " " || character > "~") {
      this.#state = "text";
      return true;
    }
    return false;
  }

  #readString(character: string): boolean {
    if (character === "\u0007" || character === "\u009c") this.#state = "text";
    else if (character === ESCAPE) this.#state = "string_escape";
    else if (character === "\n") {
      this.#state = "text";
      return true;
    }
    return false;
  }
}

function getStartState(character: string): FilterState {
  switch (character) {
    case ESCAPE:
      return "escape";
    case "\u009b":
      return "sequence";
    case "\u0090":
    case "\u0098":
    case "\u009d":
    case "\u009e":
    case "\u009f":
      return "string";
    default:
      return "text";
  }
}

/** Returns the state after a character of an escape. Intermediate characters (` ` to `/`) keep it open. */
function getEscapeState(character: string): FilterState {
  if (character === "[") return "sequence";
  if ("P]X^_".includes(character)) return "string";
  if (character === ESCAPE || (character >= " " && character <= "/")) return "escape";
  return "text";
}
