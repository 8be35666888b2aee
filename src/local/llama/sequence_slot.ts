/**
 * A sequence of llama.cpp and the text that it has evaluated.
 *
 * @module
 */

import type { LlamaSequence, Token } from "./llama_runtime.ts";
import type { PromptTokens } from "./prompt_tokens.ts";

/** The end of a token that ends within a character, or whose end is not known. */
const UNKNOWN = -1;

/** Most states that are kept; those of some models have 100 MB. */
const MAX_STATES = 2;

/** Options for a sequence that a slot uses. */
export const SEQUENCE_OPTIONS = { checkpoints: { max: MAX_STATES, interval: false } } as const;

/** Tokens of a prompt, of which the first ones are evaluated already. */
export interface AlignedPrompt {
  /** All tokens of the prompt. */
  readonly tokens: readonly Token[];
  /** Number of the evaluated ones. */
  readonly cached: number;
  /** For each of the first tokens the characters up to its end, as far as earlier requests have shown. */
  readonly ends: readonly number[];
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
  #promptCharacters = 0;
  /** For each token the characters up to its end. */
  #ends: number[] = [];
  /** Numbers of tokens whose state was kept. */
  #states: readonly number[] = [];

  /**
   * @param bos Token at the start of every prompt; `null` for none.
   */
  constructor(sequence: LlamaSequence, tokenizer: PromptTokens, bos: Token | null) {
    this.sequence = sequence;
    this.#tokenizer = tokenizer;
    this.#bos = bos;
  }

  /** Number of characters of the evaluated text. */
  get characters(): number {
    return this.#text.length;
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
    const { tokens, ends } = this.#tokenize(prompt);
    const evaluated = this.sequence.contextTokens;
    let cached = 0;
    // The last token is evaluated again, since its result is not kept.
    const maximum = Math.min(tokens.length - 1, evaluated.length);
    while (cached < maximum && tokens[cached] === evaluated[cached]) cached++;
    return { tokens, cached, ends };
  }

  /** Starts a request: forgets what does not belong to its prompt. */
  async start(prompt: string, { tokens, cached, ends }: AlignedPrompt): Promise<void> {
    this.#text = prompt;
    this.#tokens = [...tokens];
    this.#promptLength = tokens.length;
    this.#ends = tokens.map((_, index) => ends[index] ?? UNKNOWN);
    if (tokens.length > 0) this.#ends[tokens.length - 1] = prompt.length;
    this.#promptCharacters = prompt.length;
    const { nextTokenIndex: end } = this.sequence;
    if (cached >= end) return;
    // Otherwise, the package would evaluate tokens again itself, which an abort cannot interrupt, and no caller would count.
    const start = this.#findRestorable(cached);
    this.#states = this.#states.filter((tokens) => tokens <= start);
    await this.sequence.eraseContextTokenRanges([{ start, end }]);
  }

  /** Keeps the state of the evaluated tokens, for models that cannot remove the tokens after them otherwise. */
  async keepState(): Promise<void> {
    const { needsCheckpoints, nextTokenIndex: tokens } = this.sequence;
    if (!needsCheckpoints || tokens === 0 || this.#states.includes(tokens)) return;
    try {
      await this.sequence.takeCheckpoint?.();
    } catch {
      // Without it, the next request evaluates more tokens.
      return;
    }
    this.#states = [...this.#states, tokens].slice(-MAX_STATES);
  }

  /** Returns the largest number of tokens, up to the given one, whose state is known. */
  #findRestorable(tokens: number): number {
    const { needsCheckpoints, stateCellsStartIndex = -1 } = this.sequence;
    if (!needsCheckpoints || tokens > stateCellsStartIndex) return tokens;
    return this.#states.findLast((state) => state <= tokens) ?? 0;
  }

  /** The text of the reply. */
  get replyText(): string {
    return this.#text.slice(this.#promptCharacters);
  }

  /** The tokens of the reply. */
  get replyTokens(): readonly Token[] {
    return this.#tokens.slice(this.#promptLength);
  }

  /** Adds a token of the reply, and the text that it completes. */
  append(token: Token, text: string): void {
    this.#tokens.push(token);
    this.#text += text;
    this.#ends.push(text === "" ? UNKNOWN : this.#text.length);
  }

  /** Uses the tokens of earlier requests for the text that they are known to represent. */
  #tokenize(prompt: string): Pick<AlignedPrompt, "tokens" | "ends"> {
    const { nextTokenIndex } = this.sequence;
    const shared = this.countSharedCharacters(prompt);
    const last = this.#ends.findLastIndex((end, index) =>
      end !== UNKNOWN && end <= shared && index < nextTokenIndex
    );
    if (last >= 0) {
      const rest = this.#tokenizer.tokenize(prompt.slice(this.#ends[last]), true);
      const tokens = [...this.#tokens.slice(0, last + 1), ...rest];
      return { tokens, ends: this.#ends.slice(0, last + 1) };
    }
    const tokens = this.#tokenizer.tokenize(prompt, false);
    const hasStart = this.#bos === null || tokens[0] === this.#bos;
    return { tokens: hasStart ? tokens : [this.#bos, ...tokens], ends: [] };
  }
}
