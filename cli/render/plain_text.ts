/**
 * Text from outside, made harmless for a terminal: without escape sequences, control characters and characters that
 * turn the direction of writing.
 *
 * @module
 */

/** Makes a whole text harmless. */
export function toPlainText(text: string): string {
  return new PlainTextFilter().push(text);
}

/** What the filter is inside of. */
type FilterState = "text" | "escape" | "sequence" | "string" | "string_escape";

const ESCAPE = "\u001b";

/** Whatever is not plain: C0 and C1 controls save tab and newline, delete, and the bidirectional controls. */
// deno-lint-ignore no-control-regex -- control characters are what must be found
const CONTROL_CHARACTER = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const CONTROL_CHARACTERS = new RegExp(CONTROL_CHARACTER, "g");

/**
 * Makes text harmless that comes in pieces, wherever it is cut.
 *
 * Sequences are read after ECMA-48: `ESC [ … final` (or the one character CSI), strings such as titles and links up
 * to their terminator, and other escapes. A string also ends with its line: what is never terminated must not
 * swallow all that follows.
 */
export class PlainTextFilter {
  #state: FilterState = "text";

  /** Takes the next piece; gives what is left of it. */
  push(piece: string): string {
    if (this.#state === "text" && !CONTROL_CHARACTER.test(piece)) return piece;
    let plain = "";
    for (const character of piece) {
      if (this.#isText(character)) plain += character;
    }
    return plain.replace(CONTROL_CHARACTERS, "");
  }

  /** Whether a character is text; control characters among it are taken out afterwards. */
  #isText(character: string): boolean {
    switch (this.#state) {
      case "text":
        this.#state = getStartState(character);
        return this.#state === "text";
      case "escape":
        this.#state = getEscapeState(character);
        // What no escape ends with was not part of one.
        return character === "\n" || character > "~";
      case "sequence":
        return this.#readSequence(character);
      case "string":
        return this.#readString(character);
      case "string_escape":
        // ESC \ ends a string; any other escape does so too, and begins anew.
        this.#state = character === "\\" ? "text" : getEscapeState(character);
        return false;
    }
  }

  #readSequence(character: string): boolean {
    if (character >= "@" && character <= "~") this.#state = "text";
    else if (character === ESCAPE) this.#state = "escape";
    // A character that no sequence has: it was none.
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

/** Intermediate characters (` ` to `/`) keep an escape open; every other character ends it. */
function getEscapeState(character: string): FilterState {
  if (character === "[") return "sequence";
  if ("P]X^_".includes(character)) return "string";
  if (character === ESCAPE || (character >= " " && character <= "/")) return "escape";
  return "text";
}
