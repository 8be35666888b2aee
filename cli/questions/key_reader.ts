/**
 * The keys that answer a question.
 *
 * @module
 */

/** Matches an escape sequence, `Alt` with a key, or a character. */
// deno-lint-ignore no-control-regex -- keys begin with the control character ESC
const KEY = /^(?:\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|.)?|.)/su;

/** Ctrl+C, where the terminal does not send a signal, and Ctrl+D. */
const END_KEYS = ["\x03", "\x04"];

/** Splits the input of a terminal in raw mode into keys. */
export class KeyReader {
  readonly #readChunk: () => Promise<Uint8Array | undefined>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(readChunk: () => Promise<Uint8Array | undefined>) {
    this.#readChunk = readChunk;
  }

  /** Reads one key; `undefined` at the end of the input, and for Ctrl+C and Ctrl+D. */
  async read(): Promise<string | undefined> {
    while (this.#text === "") {
      const chunk = await this.#readChunk();
      if (!chunk) return undefined;
      this.#text = this.#decoder.decode(chunk, { stream: true });
    }
    const [key = ""] = KEY.exec(this.#text) ?? [];
    this.#text = this.#text.slice(key.length);
    return END_KEYS.includes(key) ? undefined : key;
  }
}
