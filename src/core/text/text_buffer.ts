/**
 * Concatenates many small strings.
 *
 * @module
 */

/** Number of chunks to join at a time. */
const CHUNKS_PER_JOIN = 256;

/**
 * Appends chunks in linear time.
 *
 * `+=` alone builds a tree of all chunks that lives until the text is read, and the garbage collector copies that tree
 * repeatedly. Joining the chunks in groups lets it free them early.
 */
export class TextBuffer {
  #chunks: string[] = [];
  #joined = "";

  /** Appends a chunk; the first one needs no list, and is often the only one. */
  append(chunk: string): void {
    if (this.#joined === "") this.#joined = chunk;
    else if (this.#chunks.push(chunk) >= CHUNKS_PER_JOIN) this.#join();
  }

  /** Returns the text so far. */
  toString(): string {
    if (this.#chunks.length > 0) this.#join();
    return this.#joined;
  }

  #join(): void {
    this.#joined += this.#chunks.join("");
    this.#chunks = [];
  }
}
