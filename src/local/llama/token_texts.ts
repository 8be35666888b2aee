/**
 * The texts of tokens, kept because llama.cpp needs longer for one than the program needs for the rest of a token.
 *
 * @module
 */

import type { LlamaModel, Token } from "./llama_runtime.ts";

/** The part of a model that joins tokens. */
export type Detokenizer = Pick<LlamaModel, "detokenize" | "tokenize" | "isEogToken">;

/** The start of the text of a token, or its end, is within a character. */
const INCOMPLETE = "\ufffd";

/**
 * Returns texts of single tokens in the middle of a text.
 *
 * The text of a token does not depend on the tokens before it, except for two kinds of spaces: one that some vocabularies
 * add to the first token, and one before a punctuation mark that others remove, which has been emitted by then.
 */
export class TokenTexts {
  readonly #model: Detokenizer;
  readonly #texts: Map<Token, string>;
  readonly #ends = new Map<Token, boolean>();
  /** A token to precede the others, so that none is the first one. */
  #previous: readonly Token[] | undefined;

  /**
   * @param spacedTokens Texts that llama.cpp would change.
   */
  constructor(model: Detokenizer, spacedTokens: ReadonlyMap<Token, string>) {
    this.#model = model;
    this.#texts = new Map(spacedTokens);
  }

  /** Returns the text of a token; `undefined` if it is not one of complete characters. */
  get(token: Token): string | undefined {
    const text = this.#texts.get(token) ?? this.#add(token);
    return text === INCOMPLETE ? undefined : text;
  }

  /** Whether a token ends the reply. */
  isEnd(token: Token): boolean {
    const known = this.#ends.get(token);
    if (known !== undefined) return known;
    const isEnd = this.#model.isEogToken(token);
    this.#ends.set(token, isEnd);
    return isEnd;
  }

  #add(token: Token): string {
    this.#previous ??= this.#model.tokenize("a").slice(0, 1);
    const text = this.#model.detokenize([token], true, this.#previous);
    const kept = text.includes(INCOMPLETE) ? INCOMPLETE : text;
    this.#texts.set(token, kept);
    return kept;
  }
}
