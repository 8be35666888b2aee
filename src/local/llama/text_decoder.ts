/**
 * Converts generated tokens to text.
 *
 * @module
 */

import type { LlamaModel, Token } from "./llama_runtime.ts";
import type { TokenTexts } from "./token_texts.ts";

/** Longest sequence of tokens that can be parts of one character. */
const MAX_PENDING = 8;
/** Number of earlier tokens that decide about a space before the next one. */
const MAX_LAST = 4;
/** Earlier tokens that are collected before the old ones are removed. */
const MAX_COLLECTED = 256;

/** Decodes tokens one by one. A character of several tokens is returned with the last of them. */
export class TokenTextDecoder {
  readonly #model: Pick<LlamaModel, "detokenize">;
  readonly #texts: Pick<TokenTexts, "get">;
  #pending: Token[] = [];
  #last: Token[] = [];

  constructor(model: Pick<LlamaModel, "detokenize">, texts: Pick<TokenTexts, "get">) {
    this.#model = model;
    this.#texts = texts;
  }

  /** Returns the text that a token completes; empty if a character is not complete. */
  decode(token: Token): string {
    const isWithinText = this.#pending.length === 0 && this.#last.length > 0;
    const known = isWithinText ? this.#texts.get(token) : undefined;
    if (known !== undefined) {
      this.#keep(token);
      return known;
    }
    this.#pending.push(token);
    const text = this.#detokenize();
    // An incomplete character is decoded to the replacement character.
    if (text.endsWith("\ufffd") && this.#pending.length < MAX_PENDING) return "";
    return this.#release(text);
  }

  /** Returns the rest after the last token. */
  end(): string {
    if (this.#pending.length === 0) return "";
    return this.#release(this.#detokenize());
  }

  #detokenize(): string {
    return this.#model.detokenize(this.#pending, true, this.#last.slice(-MAX_LAST));
  }

  #release(text: string): string {
    for (const token of this.#pending) this.#keep(token);
    this.#pending.length = 0;
    return text;
  }

  #keep(token: Token): void {
    if (this.#last.length >= MAX_COLLECTED) this.#last = this.#last.slice(-MAX_LAST);
    this.#last.push(token);
  }
}
