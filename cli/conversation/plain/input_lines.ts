/**
 * Lines of a terminal that delivers lines.
 *
 * @module
 */

/** Splits the input into lines. */
export class InputLines {
  readonly #readChunk: () => Promise<Uint8Array | undefined>;
  readonly #decoder = new TextDecoder();
  #text = "";

  /** @param readChunk Returns the next input; `undefined` at its end. */
  constructor(readChunk: () => Promise<Uint8Array | undefined>) {
    this.#readChunk = readChunk;
  }

  /** Reads a line without its line break; `undefined` at the end of the input. */
  async read(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.search(/\r\n|\n|\r(?!\n|$)/);
      if (end >= 0) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end).replace(/^(?:\r\n|\n|\r)/, "");
        return line;
      }
      const chunk = await this.#readChunk();
      if (!chunk) {
        const rest = this.#text;
        this.#text = "";
        return rest === "" ? undefined : rest;
      }
      this.#text += this.#decoder.decode(chunk, { stream: true });
    }
  }
}
