/**
 * Tokens of a prompt, of which only the template may contain special tokens.
 *
 * @module
 */

import type { LlamaModel, Token } from "./llama_runtime.ts";

/**
 * Separates the characters of a special token that a message contains, so that it stays text. The character is not part
 * of any language.
 */
const SEPARATOR = "\u{10fffe}";

/** Most characters of the texts that are kept. */
const MAX_PROTECTED = 4_000_000;
/** Most attempts to divide tokens of a text that appear where others were divided. */
const MAX_ROUNDS = 8;

/** Characters in which special tokens are searched at once, since llama.cpp needs time for the square of their number. */
const WINDOW = 2_048;
/** Characters that two neighbouring parts share; more than any special token has. */
const OVERLAP = 256;

/** The part of a model that splits texts. */
export type Tokenizer = Pick<LlamaModel, "tokenize" | "detokenize" | "isSpecialToken">;

/** Splits texts into tokens, so that messages cannot contain special tokens. */
export class PromptTokens {
  readonly #model: Tokenizer;
  /** Protected texts, since each request has the messages of the last one. */
  readonly #protected = new Map<string, string>();
  #protectedCharacters = 0;

  constructor(model: Tokenizer) {
    this.#model = model;
  }

  /**
   * Returns a text of a message in which no special token is left: a separator divides each one. Without special tokens,
   * the text is returned unchanged.
   */
  protect(text: string): string {
    const clean = text.replaceAll(SEPARATOR, "");
    // Special tokens of all known vocabularies contain one of these characters.
    if (!/[<[|▁｜]/.test(clean)) return clean;
    const known = this.#protected.get(clean);
    if (known !== undefined) return known;
    if (this.#protectedCharacters > MAX_PROTECTED) this.#forget();
    const result = this.#divideTokens(clean);
    this.#protected.set(clean, result);
    this.#protectedCharacters += clean.length;
    return result;
  }

  #forget(): void {
    this.#protected.clear();
    this.#protectedCharacters = 0;
  }

  /** Where a token was divided, the rest may be part of another one. */
  #divideTokens(clean: string): string {
    let result = clean;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const literals = this.#findSpecialTexts(result);
      if (literals.size === 0) return result;
      for (const literal of literals) result = result.replaceAll(literal, divide(literal));
    }
    return [...clean].join(SEPARATOR);
  }

  #findSpecialTexts(text: string): Set<string> {
    const special = new Set<Token>();
    for (let start = 0; start === 0 || start + OVERLAP < text.length; start += WINDOW - OVERLAP) {
      for (const token of this.tokenize(text.slice(start, start + WINDOW), true)) {
        if (this.#model.isSpecialToken(token)) special.add(token);
      }
    }
    const literals = [...special].map((token) => this.#model.detokenize([token], true).trim());
    return new Set(literals.filter((literal) => literal.length > 1));
  }

  /**
   * Splits a prompt of which the messages were protected.
   *
   * @param continues Whether other tokens precede the text, so that none gets a space at its start.
   */
  tokenize(prompt: string, continues: boolean): Token[] {
    const tokens: Token[] = [];
    for (const [index, part] of prompt.split(SEPARATOR).entries()) {
      const space = continues || index > 0 ? "trimLeadingSpace" : undefined;
      for (const token of this.#model.tokenize(part, true, space)) tokens.push(token);
    }
    return tokens;
  }
}

function divide(literal: string): string {
  const [first = ""] = literal;
  return first + SEPARATOR + literal.slice(first.length);
}
