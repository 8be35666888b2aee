/**
 * Selects the grammar of each token.
 *
 * @module
 */

import type { JsonSchema } from "../../core/json.ts";
import type { ToolChoice, ToolSpec } from "../../core/stream.ts";
import { createCallGrammar, createReplyGrammar } from "../grammar/reply_grammar.ts";
import type { LlamaGrammarState } from "../llama/llama_runtime.ts";
import type { CallFormat } from "../prompt/call_format.ts";
import type { ReplyParser } from "./reply_parser.ts";

/** Options for `GrammarSwitch.create()`. */
export interface GrammarOptions {
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: ToolChoice;
  readonly responseSchema: JsonSchema | undefined;
  readonly callFormat: CallFormat;
  /** Whether the model may think before it answers. */
  readonly thinks: boolean;
  readonly createGrammar: (grammar: string) => Promise<LlamaGrammarState | undefined>;
}

type Parser = Pick<ReplyParser, "phase" | "isAtBoundary" | "callCount">;

/**
 * Selects the grammar of each token: that of a schema or of forced calls once the thinking has ended, and that of a call
 * after the model has begun one.
 */
export class GrammarSwitch {
  readonly #options: GrammarOptions;
  /** The grammar of the whole answer. */
  readonly #answer: LlamaGrammarState | undefined;
  /** Grammars of the next calls, since each call needs a state of its own. */
  #nextCall: LlamaGrammarState | undefined;
  #call: { readonly number: number; readonly grammar: LlamaGrammarState | undefined } | undefined;

  private constructor(
    options: GrammarOptions,
    answer: LlamaGrammarState | undefined,
    nextCall: LlamaGrammarState | undefined,
  ) {
    this.#options = options;
    this.#answer = answer;
    this.#nextCall = nextCall;
  }

  /** Creates the grammars of a request. */
  static async create(options: GrammarOptions): Promise<GrammarSwitch> {
    const { tools, toolChoice, responseSchema, callFormat, createGrammar } = options;
    const create = async (grammar: string | undefined) =>
      grammar === undefined ? undefined : await createGrammar(grammar);
    const isForced = toolChoice === "required" || typeof toolChoice === "object";
    const answer = tools.length > 0 && isForced
      ? createCallGrammar(tools, callFormat, "calls")
      : responseSchema && tools.length === 0
      ? createReplyGrammar(responseSchema)
      : undefined;
    const call = tools.length > 0 && callFormat.open !== ""
      ? createCallGrammar(tools, callFormat, "content")
      : undefined;
    return new GrammarSwitch(options, await create(answer), await create(call));
  }

  /** Prepares the grammar of the next call. */
  async prepare(): Promise<void> {
    const { tools, callFormat, createGrammar } = this.#options;
    if (this.#nextCall || !this.#call) return;
    this.#nextCall = await createGrammar(createCallGrammar(tools, callFormat, "content"));
  }

  /** Whether the grammar of the next call has been used up. */
  get needsPreparation(): boolean {
    return this.#call !== undefined && this.#nextCall === undefined;
  }

  /** Returns the grammar of the next token. */
  select(parser: Parser): LlamaGrammarState | undefined {
    const { phase } = parser;
    if (this.#answer) {
      const isThinking = phase === "thinking" || (phase === "start" && this.#options.thinks);
      return isThinking ? undefined : this.#answer;
    }
    return phase === "call" ? this.#selectCall(parser) : undefined;
  }

  /** A call of which the model has already written a part has no grammar. */
  #selectCall({ isAtBoundary, callCount }: Parser): LlamaGrammarState | undefined {
    if (this.#call?.number === callCount) return this.#call.grammar;
    this.#call = { number: callCount, grammar: isAtBoundary ? this.#nextCall : undefined };
    this.#nextCall = undefined;
    return this.#call.grammar;
  }
}
