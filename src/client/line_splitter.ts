/**
 * Splits a body into lines.
 *
 * @module
 */

/** Splits bytes of UTF-8 into lines, which end with LF, or CR and LF; the bytes may be cut anywhere. */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  /** The parts of an unfinished line. */
  #parts: string[] = [];

  /** Returns the lines that these bytes complete. */
  split(bytes: Uint8Array): readonly string[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf("\n");
    if (end < 0) {
      this.#parts.push(text);
      return [];
    }
    const lines = [...this.#parts, text.slice(0, end)].join("").replace(/\r$/, "");
    this.#parts = [text.slice(end + 1)];
    return lines.split(/\r?\n/);
  }
}
