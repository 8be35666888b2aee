/**
 * A text that grows by small pieces.
 *
 * @module
 */

/** How many pieces are joined at a time. */
const PIECES_PER_JOIN = 256;

/**
 * Appends pieces in linear time.
 *
 * Appending with `+=` alone builds a tree of every piece that lives until the text is read, and the garbage
 * collector copies that tree again and again; joined in groups, the pieces are gone soon.
 */
export class TextBuffer {
  #pieces: string[] = [];
  #joined = "";

  /** Appends a piece. */
  append(piece: string): void {
    if (this.#pieces.push(piece) >= PIECES_PER_JOIN) this.#join();
  }

  /** The text so far. */
  toString(): string {
    if (this.#pieces.length > 0) this.#join();
    return this.#joined;
  }

  #join(): void {
    this.#joined += this.#pieces.join("");
    this.#pieces = [];
  }
}
