/**
 * Converts generated tokens to text.
 *
 * @module
 */

import type { LlamaModel, Token } from "./llama_runtime.ts";

/** Longest sequence of tokens that can be parts of one character. */
const MAX_PENDING = 8;
/** Number of earlier tokens that decide about a space before the next one. */
const MAX_LAST = 4;

/** Decodes tokens one by one. A character of several tokens is returned with the last of them. */
export class TokenTextDecoder {
  readonly #model: Pick<LlamaModel, "detokenize">;
  #pending: Token[] = [];
  #last: readonly Token[] = [];

  constructor(model: Pick<LlamaModel, "detokenize">) {
    this.#model = model;
  }

  /** Returns the text that a token completes; empty if a character is not complete. */
  decode(token: Token): string {
    this.#pending.push(token);
    const text = this.#model.detokenize(this.#pending, true, this.#last);
    // An incomplete character is decoded to the replacement character.
    if (text.endsWith("\ufffd") && this.#pending.length < MAX_PENDING) return "";
    return this.#release(text);
  }

  /** Returns the rest after the last token. */
  end(): string {
    if (this.#pending.length === 0) return "";
    return this.#release(this.#model.detokenize(this.#pending, true, this.#last));
  }

  #release(text: string): string {
    this.#last = [...this.#last, ...this.#pending].slice(-MAX_LAST);
    this.#pending = [];
    return text;
  }
}
