/**
 * The keys that answer a question.
 *
 * @module
 */

/** Matches an escape sequence without its end, which a slow connection delivers later. */
// deno-lint-ignore no-control-regex -- keys begin with the control character ESC
const INCOMPLETE_KEY = /\x1b(?:\[[0-?]*[ -/]*|O|[\]P_^X][^\x07\x1b]*)?$/;

/** Matches an escape sequence, `Alt` with a key, or a character. */
// deno-lint-ignore no-control-regex -- keys begin with the control character ESC
const KEY = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|.)?|./gsu;

/** Time within which the end of an escape sequence arrives. */
const SEQUENCE_MS = 500;

/** Ctrl+C, where the terminal does not send a signal, and Ctrl+D. */
// deno-lint-ignore no-control-regex -- these keys are control characters
const END_KEY = /[\x03\x04]/;

/** Options for {@linkcode KeyReader}. */
export interface KeyReaderOptions {
  /** Returns the next input; `undefined` at its end. */
  readonly readChunk: () => Promise<Uint8Array | undefined>;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
}

/** Reads what is typed on a terminal in raw mode. */
export class KeyReader {
  readonly #options: KeyReaderOptions;
  readonly #decoder = new TextDecoder();
  #incomplete = "";
  #readAt = 0;

  constructor(options: KeyReaderOptions) {
    this.#options = options;
  }

  /**
   * Reads what arrives at once: one key, or all of a text that is pasted, whose characters are no keys. Returns
   * `undefined` at the end of the input, and for Ctrl+C and Ctrl+D.
   */
  async read(): Promise<string | undefined> {
    const { readChunk, now } = this.#options;
    let text = "";
    while (text === "") {
      const chunk = await readChunk();
      if (!chunk) return undefined;
      text = this.#decoder.decode(chunk, { stream: true });
    }
    // The last character of a sequence is no key, even if it is the letter of an answer.
    const isContinued = now() - this.#readAt < SEQUENCE_MS;
    if (isContinued) text = this.#incomplete + text;
    [this.#incomplete = ""] = INCOMPLETE_KEY.exec(text) ?? [];
    this.#readAt = now();
    return END_KEY.test(text) ? undefined : text;
  }
}

/** Splits text that arrived at once into keys and escape sequences. An incomplete sequence is omitted. */
export function splitKeys(text: string): readonly string[] {
  return text.replace(INCOMPLETE_KEY, "").match(KEY) ?? [];
}
