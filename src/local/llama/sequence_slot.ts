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
  /** Positions in the prompt that are known from earlier requests. */
  readonly boundaries: readonly Boundary[];
}

/** Keeps the cache of a sequence between requests, as far as the next prompt begins like the last one. */
export class SequenceSlot {
  readonly sequence: LlamaSequence;
  readonly #tokenizer: PromptTokens;
  readonly #bos: Token | null;
  /** The prompt and the reply. */
  #text = "";
  #tokens: Token[] = [];
  #promptLength = 0;
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
    const { tokens, boundaries } = this.#tokenize(prompt);
    const evaluated = this.sequence.contextTokens;
    let cached = 0;
    // The last token is evaluated again, since its result is not kept.
    const maximum = Math.min(tokens.length - 1, evaluated.length);
    while (cached < maximum && tokens[cached] === evaluated[cached]) cached++;
    return { tokens, cached, boundaries };
  }

  /** Starts a request: forgets what does not belong to its prompt. */
  async start(prompt: string, { tokens, cached, boundaries }: AlignedPrompt): Promise<void> {
    this.#text = prompt;
    this.#tokens = [...tokens];
    this.#promptLength = tokens.length;
    this.#boundaries = [...boundaries, { tokens: tokens.length, characters: prompt.length }];
    const { nextTokenIndex: end } = this.sequence;
    if (cached < end) await this.sequence.eraseContextTokenRanges([{ start: cached, end }]);
  }

  /** The tokens of the reply. */
  get replyTokens(): readonly Token[] {
    return this.#tokens.slice(this.#promptLength);
  }

  /** Adds a token of the reply, and the text that it completes. */
  append(token: Token, text: string): void {
    this.#tokens.push(token);
    if (text === "") return;
    this.#text += text;
    this.#boundaries.push({ tokens: this.#tokens.length, characters: this.#text.length });
  }

  /** Uses the tokens of earlier requests for the text that they are known to represent. */
  #tokenize(prompt: string): Pick<AlignedPrompt, "tokens" | "boundaries"> {
    const { nextTokenIndex } = this.sequence;
    const shared = this.countSharedCharacters(prompt);
    const last = this.#boundaries.findLastIndex(({ tokens, characters }) =>
      tokens <= nextTokenIndex && characters <= shared
    );
    const boundary = this.#boundaries[last];
    if (boundary) {
      const rest = this.#tokenizer.tokenize(prompt.slice(boundary.characters), true);
      const tokens = [...this.#tokens.slice(0, boundary.tokens), ...rest];
      return { tokens, boundaries: this.#boundaries.slice(0, last + 1) };
    }
    const tokens = this.#tokenizer.tokenize(prompt, false);
    const hasStart = this.#bos === null || tokens[0] === this.#bos;
    return { tokens: hasStart ? tokens : [this.#bos, ...tokens], boundaries: [] };
  }
}
