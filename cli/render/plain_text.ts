/**
 * Text from outside, made harmless for a terminal: without escape sequences, control characters and characters that
 * turn the direction of writing.
 *
 * @module
 */

/** Makes a whole text harmless. */
export function plainText(text: string): string {
  return new PlainTextFilter().push(text);
}

/** What the filter is inside of. */
type Place = "text" | "escape" | "sequence" | "string" | "string_escape";

const ESCAPE = "\u001b";

/** Whatever is not plain: C0 and C1 controls save tab and newline, delete, and the bidirectional controls. */
// deno-lint-ignore no-control-regex -- control characters are what must be found
const UNWANTED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const ALL_UNWANTED = new RegExp(UNWANTED, "g");

/**
 * Makes text harmless that comes in pieces, wherever it is cut.
 *
 * Sequences are read after ECMA-48: `ESC [ … final` (or the one character CSI), strings such as titles and links up
 * to their terminator, and other escapes. A string also ends with its line: what is never terminated must not
 * swallow all that follows.
 */
export class PlainTextFilter {
  #place: Place = "text";

  /** Takes the next piece; gives what is left of it. */
  push(piece: string): string {
    if (this.#place === "text" && !UNWANTED.test(piece)) return piece;
    let plain = "";
    for (const character of piece) {
      if (this.#isText(character)) plain += character;
    }
    return plain.replace(ALL_UNWANTED, "");
  }

  /** Whether a character is text; control characters among it are taken out afterwards. */
  #isText(character: string): boolean {
    switch (this.#place) {
      case "text":
        this.#place = startOf(character);
        return this.#place === "text";
      case "escape":
        this.#place = afterEscape(character);
        // What no escape ends with was not part of one.
        return character === "\n" || character > "~";
      case "sequence":
        return this.#passSequence(character);
      case "string":
        return this.#passString(character);
      case "string_escape":
        // ESC \ ends a string; any other escape does so too, and begins anew.
        this.#place = character === "\\" ? "text" : afterEscape(character);
        return false;
    }
  }

  #passSequence(character: string): boolean {
    if (character >= "@" && character <= "~") this.#place = "text";
    else if (character === ESCAPE) this.#place = "escape";
    // A character that no sequence has: it was none.
    else if (character < " " || character > "~") {
      this.#place = "text";
      return true;
    }
    return false;
  }

  #passString(character: string): boolean {
    if (character === "\u0007" || character === "\u009c") this.#place = "text";
    else if (character === ESCAPE) this.#place = "string_escape";
    else if (character === "\n") {
      this.#place = "text";
      return true;
    }
    return false;
  }
}

function startOf(character: string): Place {
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

/** Intermediate characters (` ` to `/`) keep an escape open; every other character ends it. */
function afterEscape(character: string): Place {
  if (character === "[") return "sequence";
  if ("P]X^_".includes(character)) return "string";
  if (character === ESCAPE || (character >= " " && character <= "/")) return "escape";
  return "text";
}
