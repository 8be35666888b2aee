/**
 * Generates text with a loaded model.
 *
 * @module
 */

import { abortable } from "../../core/ports/abortable.ts";
import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";
import type {
  LlamaContext,
  LlamaGrammarState,
  LlamaModel,
  LlamaRuntime,
  LlamaSequence,
  Token,
} from "./llama_runtime.ts";
import { PromptTokens } from "./prompt_tokens.ts";
import { type AlignedPrompt, SEQUENCE_OPTIONS, SequenceSlot } from "./sequence_slot.ts";
import { TokenTextDecoder } from "./text_decoder.ts";
import { TokenTexts } from "./token_texts.ts";

/** How the next token is chosen. */
export interface Sampling {
  /** 0 takes the most probable token. */
  readonly temperature: number;
  /** Probability mass of the tokens to choose from. */
  readonly topP: number;
  /** Number of tokens to choose from. */
  readonly topK: number;
  /** Probability that a token must have, relative to the most probable one. */
  readonly minP: number;
  /** Seed of the random choice. Default: random. */
  readonly seed?: number;
}

/** A request to generate text. */
export interface GenerationRequest {
  /** The prompt, in which the texts of messages were protected. */
  readonly prompt: string;
  /** Number of characters of the prompt that distinguish its conversation from others; 0 if it is not known. */
  readonly openingLength: number;
  readonly sampling: Sampling;
  /** Returns the grammar of the next token; `undefined` for none. */
  readonly getGrammar: () => LlamaGrammarState | undefined;
  /** Called when another request waits for a sequence, at least once. */
  readonly onWanted: () => void;
}

/** A step of a generation. */
export type GenerationStep =
  | { readonly type: "text"; readonly text: string }
  /** The model has ended the reply, with the rest of its text. */
  | { readonly type: "end"; readonly text: string }
  /** The context is full. */
  | { readonly type: "full"; readonly text: string };

/** Options for `new TextEngine()`. */
export interface TextEngineOptions {
  readonly runtime: LlamaRuntime;
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  /** Number of sequences of the context. */
  readonly sequences: number;
  /** Texts of tokens that llama.cpp would change. */
  readonly spacedTokens: ReadonlyMap<Token, string>;
}

/** Most grammars that are kept. */
const MAX_GRAMMARS = 32;

/** Generates texts with the sequences of a context. Requests wait for a free one, in order. */
export class TextEngine {
  /** Number of tokens of a prompt and its reply. */
  readonly contextSize: number;
  /** Splits prompts. */
  readonly tokenizer: PromptTokens;
  readonly #options: TextEngineOptions;
  readonly #texts: TokenTexts;
  readonly #free: SequenceSlot[];
  readonly #waiting: Deferred<SequenceSlot>[] = [];
  /** The requests that have a sequence. */
  readonly #active = new Set<GenerationRequest>();
  readonly #grammars = new Map<string, Promise<object | undefined>>();

  constructor(options: TextEngineOptions) {
    const { model, context, sequences, spacedTokens } = options;
    this.#options = options;
    this.contextSize = context.contextSize;
    this.tokenizer = new PromptTokens(model);
    this.#texts = new TokenTexts(model, spacedTokens);
    const bos = model.tokens.shouldPrependBosToken ? model.tokens.bos : null;
    this.#free = Array.from(
      { length: sequences },
      () => new SequenceSlot(context.getSequence(SEQUENCE_OPTIONS), this.tokenizer, bos),
    );
  }

  /** Texts of the tokens at the start and the end of texts, for templates. */
  get specialTexts(): { readonly bos: string; readonly eos: string } {
    const { bosString, eosString } = this.#options.model.tokens;
    return { bos: bosString ?? "", eos: eosString ?? "" };
  }

  /** Waits for a sequence and starts a generation, which must be released. */
  async start(request: GenerationRequest, signal: AbortSignal): Promise<Generation> {
    const slot = await this.#acquire(request, signal);
    this.#active.add(request);
    const release = () => {
      this.#active.delete(request);
      this.#release(slot);
    };
    try {
      const aligned = slot.align(request.prompt);
      const tools = { tokenizer: this.tokenizer, texts: this.#texts };
      if (this.#waiting.length > 0) request.onWanted();
      return new Generation(request, { ...this.#options, ...tools, slot, aligned, release });
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Creates the state of a grammar; `undefined` if llama.cpp does not accept the grammar. */
  async createGrammar(grammar: string): Promise<LlamaGrammarState | undefined> {
    const pending = this.#grammars.get(grammar) ?? this.#parseGrammar(grammar);
    this.#grammars.delete(grammar);
    this.#grammars.set(grammar, pending);
    const [oldest] = this.#grammars.keys();
    if (oldest !== undefined && this.#grammars.size > MAX_GRAMMARS) this.#grammars.delete(oldest);
    const parsed = await pending;
    const { model, runtime } = this.#options;
    return parsed &&
      new runtime.package.LlamaGrammarEvaluationState({ model, grammar: parsed });
  }

  async #parseGrammar(grammar: string): Promise<object | undefined> {
    try {
      return await this.#options.runtime.llama.createGrammar({ grammar });
    } catch {
      return undefined;
    }
  }

  async #acquire(request: GenerationRequest, signal: AbortSignal): Promise<SequenceSlot> {
    signal.throwIfAborted();
    if (this.#free.length === 0) return await this.#wait(signal);
    const [slot] = this.#free.splice(this.#findSimilar(request), 1);
    if (!slot) throw new Error("No sequence is free");
    return slot;
  }

  /**
   * Returns the index of the free sequence whose conversation the prompt continues; that of the least recently used one
   * for none.
   */
  #findSimilar({ prompt, openingLength }: GenerationRequest): number {
    const shared = this.#free.map((slot) => slot.countSharedCharacters(prompt));
    const most = Math.max(...shared);
    const index = shared.indexOf(most);
    const { characters = 0 } = this.#free[index] ?? {};
    // Prompts of different conversations begin alike, and would remove the text of each other.
    const isSame = openingLength > 0 ? most >= openingLength : most * 2 >= characters;
    return isSame ? index : 0;
  }

  /** Waits for the next sequence that is released. */
  async #wait(signal: AbortSignal): Promise<SequenceSlot> {
    const turn = createDeferred<SequenceSlot>();
    this.#waiting.push(turn);
    for (const { onWanted } of this.#active) onWanted();
    try {
      return await abortable(turn.promise, signal);
    } catch (error) {
      const index = this.#waiting.indexOf(turn);
      if (index >= 0) this.#waiting.splice(index, 1);
      // The sequence was released for this request at the same time.
      else void turn.promise.then((slot) => this.#release(slot));
      throw error;
    }
  }

  #release(slot: SequenceSlot): void {
    const next = this.#waiting.shift();
    if (next) next.resolve(slot);
    else this.#free.push(slot);
  }
}

interface GenerationOptions extends TextEngineOptions {
  readonly tokenizer: PromptTokens;
  readonly texts: TokenTexts;
  readonly slot: SequenceSlot;
  readonly aligned: AlignedPrompt;
  readonly release: () => void;
}

/** One generation. Its sequence is in use until it is released. */
export class Generation {
  readonly #request: GenerationRequest;
  readonly #options: GenerationOptions;
  readonly #decoder: TokenTextDecoder;
  #evaluated = 0;
  #generated = 0;
  #tokens: ReturnType<LlamaSequence["evaluateWithMetadata"]> | undefined;
  /** Text after the last token, whose characters are not complete. */
  #rest = "";
  #isReleased = false;

  constructor(request: GenerationRequest, options: GenerationOptions) {
    this.#request = request;
    this.#options = options;
    this.#decoder = new TokenTextDecoder(options.model, options.texts);
  }

  /** Number of tokens of the prompt. */
  get promptTokens(): number {
    return this.#options.aligned.tokens.length;
  }

  /** Number of tokens of the prompt that were not evaluated again. */
  get cachedTokens(): number {
    return this.promptTokens - this.#evaluated;
  }

  /** Number of tokens of the reply. */
  get generatedTokens(): number {
    return this.#generated;
  }

  /** Evaluates the prompt, in steps that an abort can interrupt. */
  async evaluatePrompt(signal: AbortSignal): Promise<void> {
    const { slot, aligned, context } = this.#options;
    const { sequence } = slot;
    await slot.start(this.#request.prompt, aligned);
    // Models with a sliding window forget more than was asked for.
    let rest = aligned.tokens.slice(sequence.nextTokenIndex);
    this.#evaluated = rest.length;
    // The next prompt need not contain the reply, which begins with the last token.
    const last = sequence.needsCheckpoints ? 1 : context.batchSize;
    while (rest.length > last) {
      signal.throwIfAborted();
      const count = Math.min(rest.length - (sequence.needsCheckpoints ? 1 : 0), context.batchSize);
      await sequence.evaluateWithoutGeneratingNewTokens(rest.slice(0, count));
      rest = rest.slice(count);
    }
    await slot.keepState();
    signal.throwIfAborted();
    const { sampling, getGrammar } = this.#request;
    this.#tokens = sequence.evaluateWithMetadata(rest, {}, {
      ...sampling,
      grammarEvaluationState: getGrammar,
      yieldEogToken: true,
    });
  }

  /** Generates the next token. */
  async next(): Promise<GenerationStep> {
    const { slot, context, texts } = this.#options;
    // One token later, llama.cpp would drop the start of the prompt.
    if (this.promptTokens + this.#generated >= context.contextSize - 1) {
      return { type: "full", text: this.#finishText() };
    }
    const result = await this.#tokens?.next();
    if (!result || result.done || texts.isEnd(result.value.token)) {
      return { type: "end", text: this.#finishText() };
    }
    const { token } = result.value;
    this.#generated++;
    const text = this.#decoder.decode(token);
    slot.append(token, text);
    return { type: "text", text };
  }

  #finishText(): string {
    return this.#rest = this.#decoder.end();
  }

  /**
   * Returns the text of the reply, protected for later prompts: only the special tokens that the model has written as such
   * stay special, and not those that it has spelled out, for instance from a file.
   */
  getReplyText(): string {
    const { slot, model, texts, tokenizer } = this.#options;
    const text = slot.replyText + this.#rest;
    if (tokenizer.protect(text) === text) return text;
    const decoder = new TokenTextDecoder(model, texts);
    let result = "";
    let plain = "";
    for (const token of slot.replyTokens) {
      const decoded = decoder.decode(token);
      if (!model.isSpecialToken(token)) {
        plain += decoded;
        continue;
      }
      result += tokenizer.protect(plain) + decoded;
      plain = "";
    }
    return result + tokenizer.protect(plain + decoder.end());
  }

  /** Ends the generation, and frees its sequence after the token in progress. */
  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    try {
      await this.#tokens?.return();
    } finally {
      this.#options.release();
    }
  }
}
