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
  #isCut = false;

  /** Appends bytes. */
  push(chunk: Uint8Array): void {
    this.append(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Appends text. */
  append(text: string): void {
    const complete = this.#text + text;
    this.#isCut ||= complete.length > MAX_LENGTH;
    this.#text = complete.slice(-MAX_LENGTH);
  }

  /** The last characters, without the rest of a word that was cut: a part of a secret would not be recognized. */
  get text(): string {
    return (this.#isCut ? this.#text.replace(/^\S+/, "") : this.#text).trim();
  }
}
