/**
 * Selects the grammar of each token.
 *
 * @module
 */

import type { JsonSchema } from "../../core/json/json.ts";
import type { ToolChoice, ToolSpec } from "../../core/streams/stream.ts";
import { createCallGrammar, createReplyGrammar } from "../grammar/reply_grammar.ts";
import type { LlamaGrammarState } from "../llama/llama_runtime.ts";
import { type CallFormat, CHANNEL_CALLS } from "../prompt/call_format.ts";
import type { ReplyParser } from "./reply_parser.ts";

/** Options for `GrammarSwitch.create()`. */
export interface GrammarOptions {
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: ToolChoice;
  readonly responseSchema: JsonSchema | undefined;
  readonly callFormat: CallFormat;
  /** Whether the model may think before it answers. */
  readonly thinks: boolean;
  /** Whether the prompt has begun the thinking. */
  readonly startsThinking: boolean;
  readonly createGrammar: (grammar: string) => Promise<LlamaGrammarState | undefined>;
}

type Parser = Pick<ReplyParser, "phase" | "isCallBlank" | "openedCount">;

/**
 * Selects the grammar of each token: that of a schema or of forced calls for the whole reply, or that of a call after the
 * model has begun one.
 */
export class GrammarSwitch {
  readonly #options: GrammarOptions;
  /** The grammar of the whole reply. */
  readonly #reply: LlamaGrammarState | undefined;
  /** The grammar of the next call, since each call needs a state of its own. */
  #nextCall: LlamaGrammarState | undefined;
  #call: { readonly number: number; readonly grammar: LlamaGrammarState | undefined } | undefined;

  private constructor(
    options: GrammarOptions,
    reply: LlamaGrammarState | undefined,
    nextCall: LlamaGrammarState | undefined,
  ) {
    this.#options = options;
    this.#reply = reply;
    this.#nextCall = nextCall;
  }

  /** Creates the grammars of a request. */
  static async create(options: GrammarOptions): Promise<GrammarSwitch> {
    const { tools, callFormat, createGrammar } = options;
    const whole = describeReply(options);
    if (whole !== undefined) {
      return new GrammarSwitch(options, await createGrammar(whole), undefined);
    }
    const hasCalls = tools.length > 0 && callFormat.open !== "" && callFormat !== CHANNEL_CALLS;
    const call = hasCalls ? await createGrammar(createCallGrammar(tools, callFormat)) : undefined;
    return new GrammarSwitch(options, undefined, call);
  }

  /** Prepares the grammar of the next call. */
  async prepare(): Promise<void> {
    const { tools, callFormat, createGrammar } = this.#options;
    if (this.needsPreparation) {
      this.#nextCall = await createGrammar(createCallGrammar(tools, callFormat));
    }
  }

  /** Whether the grammar of the next call has been used up. */
  get needsPreparation(): boolean {
    return this.#call !== undefined && this.#nextCall === undefined;
  }

  /** Returns the grammar of the next token. */
  select(parser: Parser): LlamaGrammarState | undefined {
    const { phase } = parser;
    if (this.#reply) {
      return phase === "thinking" && this.#options.startsThinking ? undefined : this.#reply;
    }
    return phase === "call" ? this.#selectCall(parser) : undefined;
  }

  /** A call of which the model has already written a part has no grammar. The calls of a list have one together. */
  #selectCall({ isCallBlank, openedCount }: Parser): LlamaGrammarState | undefined {
    if (this.#call?.number === openedCount) return this.#call.grammar;
    this.#call = { number: openedCount, grammar: isCallBlank ? this.#nextCall : undefined };
    if (isCallBlank) this.#nextCall = undefined;
    return this.#call.grammar;
  }
}

/** Returns the grammar of the whole reply, if it is forced to be one. */
function describeReply(options: GrammarOptions): string | undefined {
  const { tools, toolChoice, responseSchema, callFormat, thinks, startsThinking } = options;
  const mustCall = toolChoice === "required" || typeof toolChoice === "object";
  const schema = mustCall && tools.length > 0 ? undefined : responseSchema;
  if (schema === undefined && !(mustCall && tools.length > 0)) return undefined;
  return createReplyGrammar({
    schema,
    tools,
    format: callFormat,
    mayThink: thinks && !startsThinking,
  });
}
