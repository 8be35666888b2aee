/**
 * The end of the diagnostic output of a server.
 *
 * @module
 */

/** Maximum number of characters that are kept. */
const MAX_LENGTH = 2_000;

/** Keeps the last characters of a text. */
export class OutputTail {
  readonly #decoder = new TextDecoder();
  #text = "";

  /** Appends bytes. */
  push(chunk: Uint8Array): void {
    this.append(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Appends text. */
  append(text: string): void {
    this.#text = (this.#text + text).slice(-MAX_LENGTH);
  }

  /** The last characters. */
  get text(): string {
    return this.#text.trim();
  }
}
