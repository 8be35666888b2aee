/**
 * Assembly of the arguments of a call from the pieces that the chat completions API sends.
 *
 * @module
 */

import { parseJsonOrUndefined } from "../../../src/core/json/parse_json.ts";

/**
 * The arguments of one call.
 *
 * Most servers send the next part of the arguments with each piece, some all arguments so far. Gateways to Anthropic and
 * Bedrock send the empty input of the start of a call before its arguments.
 */
export class CallArguments {
  /** All parts, except an empty input before them. */
  #text = "";
  /** The last part. */
  #lastPart = "";
  #isCumulative = false;
  /** Pieces that are all arguments so far, or values within them that begin like the arguments. */
  #held: string[] = [];

  /** Returns what is new in the next piece. */
  take(piece: string): string {
    const part = this.#takePart(piece);
    if (part === "") return "";
    const isEmptyInput = this.#lastPart === "" && part.trim() === "{}";
    this.#lastPart = part;
    if (isEmptyInput) return "";
    this.#text += part;
    return part;
  }

  /** Returns what is new in the pieces that were held back, at the end of the reply. */
  end(): string {
    const held = this.#held;
    this.#held = [];
    const last = held.at(-1) ?? "";
    return parseJsonOrUndefined(last) === undefined ? held.join("") : this.#omitStart(last);
  }

  /** Whether the arguments may end before a piece, so that it begins those of another call. */
  canEndBefore(piece: string): boolean {
    const isRepeated = this.#text !== "" && startsWith(piece, this.#text) &&
      (this.#isCumulative || parseJsonOrUndefined(this.#text) === undefined);
    return this.#lastPart.trimEnd().endsWith("}") && !isRepeated;
  }

  /** Whether the arguments are complete, and a piece begins others. */
  isFollowedBy(piece: string): boolean {
    return piece.startsWith("{") && !startsWith(piece, this.#text) &&
      parseJsonOrUndefined(this.#text) !== undefined;
  }

  #takePart(piece: string): string {
    const held = this.#held;
    const previous = held.at(-1) ?? this.#text;
    if (previous === "" || !startsWith(piece, previous)) {
      this.#held = [];
      const values = held.join("");
      // A server may repeat the complete arguments after their parts.
      return held.length > 0 && this.#isRepetition(piece, values) ? values : values + piece;
    }
    // Blanks before the arguments have no meaning.
    const isBlank = previous.trim() === "";
    // Nothing but a value, or a name that is a brace, can begin like the arguments.
    const isAmbiguous = /[:[,]\s*$|^\s*\{\s*"$/.test(previous);
    if (!isBlank && !this.#isCumulative && isAmbiguous) {
      held.push(piece);
      return "";
    }
    this.#isCumulative ||= !isBlank;
    this.#held = [];
    return this.#omitStart(piece);
  }

  /** Whether a piece is the same as all arguments, which end with values that were held back. */
  #isRepetition(piece: string, values: string): boolean {
    return startsWith(piece, this.#text) &&
      piece.slice(this.#text.length).trimEnd() === values.trimEnd() &&
      parseJsonOrUndefined(piece) !== undefined;
  }

  #omitStart(piece: string): string {
    return piece.slice(this.#text.length);
  }
}

/** Whether a text starts with another one; the comparison of the lengths spares joining the parts of a long one. */
function startsWith(text: string, start: string): boolean {
  return text.length >= start.length && text.startsWith(start);
}
