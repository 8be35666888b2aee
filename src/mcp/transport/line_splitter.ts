/**
 * Splits the output of a program into lines.
 *
 * @module
 */

const NEWLINE = 10;

/** Collects bytes until a line is complete. */
export class LineSplitter {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder();
  #parts: Uint8Array[] = [];
  #length = 0;

  /** Creates a splitter for lines of at most `maxBytes` bytes. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Yields the lines that a chunk completes, without their ends.
   *
   * @throws {RangeError} If a line is too long.
   */
  *push(chunk: Uint8Array): Generator<string, void, void> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      this.#append(chunk.subarray(start, end < 0 ? undefined : end));
      if (end < 0) return;
      yield this.#takeLine();
      start = end + 1;
    }
  }

  #append(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#length > this.#maxBytes) {
      throw new RangeError(`sent a line of more than ${this.#maxBytes} bytes`);
    }
    if (part.length > 0) this.#parts.push(part);
  }

  #takeLine(): string {
    const line = this.#parts.map((part) => this.#decoder.decode(part, { stream: true })).join("");
    this.#parts = [];
    this.#length = 0;
    return line + this.#decoder.decode();
  }
}
