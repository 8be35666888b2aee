/**
 * A sequence of llama.cpp and the text that it has evaluated.
 *
 * @module
 */

import type { LlamaSequence, Token } from "./llama_runtime.ts";
import type { PromptTokens } from "./prompt_tokens.ts";

/** A position at which a text and its tokens end together. */
interface Boundary {
  readonly tokens: number;
  readonly characters: number;
}

/** Tokens of a prompt, of which the first ones are evaluated already. */
export interface AlignedPrompt {
  /** All tokens of the prompt. */
  readonly tokens: readonly Token[];
  /** Number of the evaluated ones. */
  readonly cached: number;
}

/** Keeps the cache of a sequence between requests, as far as the next prompt begins like the last one. */
export class SequenceSlot {
  readonly sequence: LlamaSequence;
  readonly #tokenizer: PromptTokens;
  readonly #bos: Token | null;
  /** The prompt and the reply. */
  #text = "";
  #tokens: Token[] = [];
  #boundaries: Boundary[] = [];

  /**
   * @param bos Token at the start of every prompt; `null` for none.
   */
  constructor(sequence: LlamaSequence, tokenizer: PromptTokens, bos: Token | null) {
    this.sequence = sequence;
    this.#tokenizer = tokenizer;
    this.#bos = bos;
  }

  /** Number of characters at the start of a prompt that were evaluated. */
  countSharedCharacters(prompt: string): number {
    const length = Math.min(prompt.length, this.#text.length);
    let shared = 0;
    while (shared < length && prompt.charCodeAt(shared) === this.#text.charCodeAt(shared)) shared++;
    return shared;
  }

  /** Splits a prompt, with the tokens of the last reply where it contains that reply. Changes nothing. */
  align(prompt: string): AlignedPrompt {
    const tokens = this.#tokenize(prompt);
    const evaluated = this.sequence.contextTokens;
    let cached = 0;
    // The last token is evaluated again, since its result is not kept.
    const maximum = Math.min(tokens.length - 1, evaluated.length);
    while (cached < maximum && tokens[cached] === evaluated[cached]) cached++;
    return { tokens, cached };
  }

  /** Starts a request: forgets what does not belong to its prompt. */
  async start(prompt: string, { tokens, cached }: AlignedPrompt): Promise<void> {
    this.#text = prompt;
    this.#tokens = [...tokens];
    this.#boundaries = [{ tokens: tokens.length, characters: prompt.length }];
    const { nextTokenIndex: end } = this.sequence;
    if (cached < end) await this.sequence.eraseContextTokenRanges([{ start: cached, end }]);
  }

  /** Adds a token of the reply, and the text that it completes. */
  append(token: Token, text: string): void {
    this.#tokens.push(token);
    if (text === "") return;
    this.#text += text;
    this.#boundaries.push({ tokens: this.#tokens.length, characters: this.#text.length });
  }

  /** Uses the tokens of the last request for the text that they are known to represent. */
  #tokenize(prompt: string): Token[] {
    const { nextTokenIndex } = this.sequence;
    const shared = this.countSharedCharacters(prompt);
    const boundary = this.#boundaries.findLast(({ tokens, characters }) =>
      tokens <= nextTokenIndex && characters <= shared
    );
    if (boundary) {
      const rest = this.#tokenizer.tokenize(prompt.slice(boundary.characters), true);
      return [...this.#tokens.slice(0, boundary.tokens), ...rest];
    }
    const tokens = this.#tokenizer.tokenize(prompt, false);
    return this.#bos === null || tokens[0] === this.#bos ? tokens : [this.#bos, ...tokens];
  }
}
