/**
 * The keys of a prompt.
 *
 * @module
 */

/** Matches an escape sequence, `Alt` with a key, or a character. */
// deno-lint-ignore no-control-regex -- keys begin with the control character ESC
const KEY = /^(?:\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|.)?|.)/su;

const ESCAPE = "\x1b";
/** Ctrl+C, where the terminal does not send a signal, and Ctrl+D. */
const END_KEYS = ["\x03", "\x04"];

/**
 * Provides the keys of a prompt of `@cliffy/prompt`, each complete and in a read of its own.
 *
 * At the end of the input, which includes Ctrl+D, a read rejects: `null` would make the prompt read again, forever, and
 * Ctrl+C would make it exit the process.
 */
export class KeyReader {
  readonly #readChunk: () => Promise<Uint8Array | undefined>;
  readonly #decoder = new TextDecoder();
  #text = "";
  #hasEnded = false;

  constructor(readChunk: () => Promise<Uint8Array | undefined>) {
    this.#readChunk = readChunk;
  }

  /** Whether the input has ended. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Returns `false`, so that the prompt does not change the mode of the terminal with every key. */
  isTerminal(): boolean {
    return false;
  }

  /** Does nothing: see `isTerminal()`. */
  setRaw(): void {}

  /** Reads one key into a buffer and returns its size. */
  async read(buffer: Uint8Array): Promise<number> {
    for (;;) {
      const key = await this.#nextKey();
      const bytes = new TextEncoder().encode(key);
      // A prompt may take Escape for the beginning of the next key.
      if (key === ESCAPE || bytes.length > buffer.length) continue;
      buffer.set(bytes);
      return bytes.length;
    }
  }

  async #nextKey(): Promise<string> {
    while (this.#text === "") {
      const chunk = await this.#readChunk();
      if (!chunk) return this.#end();
      this.#text = this.#decoder.decode(chunk, { stream: true });
    }
    const [key = ""] = KEY.exec(this.#text) ?? [];
    this.#text = this.#text.slice(key.length);
    return END_KEYS.includes(key) ? this.#end() : key;
  }

  #end(): never {
    this.#hasEnded = true;
    throw new Error("The input of the prompt has ended");
  }
}
