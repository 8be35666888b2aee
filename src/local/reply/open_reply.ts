/**
 * A reply that a model on this device generates token by token.
 *
 * @module
 */

import { ContextWindowOverflowError } from "../../core/errors/errors.ts";
import type { ThinkingLevel } from "../../core/models/model.ts";
import type { Usage } from "../../core/models/usage.ts";
import type { BlockWriter } from "../../core/streams/block_writer.ts";
import type { StreamRequest, ToolSpec } from "../../core/streams/stream.ts";
import type { Generation, Sampling } from "../llama/text_engine.ts";
import { CHANNEL_CALLS } from "../prompt/call_format.ts";
import { isUnreadable } from "../prompt/chat_message.ts";
import type { ReasoningEffort } from "../prompt/chat_template.ts";
import type { BuiltPrompt } from "../prompt/prompt_builder.ts";
import { ChannelParser } from "./channel_parser.ts";
import { GrammarSwitch } from "./grammar_switch.ts";
import type { LoadedTextModel } from "./loaded_text_model.ts";
import { ReplyBlocks } from "./reply_blocks.ts";
import { ReplyParser } from "./reply_parser.ts";

/** Reads the text of a reply in the format of its model. */
type LocalParser = ReplyParser | ChannelParser;

const EFFORTS: Readonly<Record<ThinkingLevel, ReasoningEffort>> = {
  off: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  extra_high: "high",
};

/** Options for `OpenReply.open()`. */
export interface OpenReplyOptions {
  /** Gets the reply. */
  readonly writer: BlockWriter;
  /** Ends the evaluation of the prompt. */
  readonly signal: AbortSignal;
  /** Called when another request waits for the sequence of the reply. */
  readonly onWanted: () => void;
}

/** A reply that is being generated. */
export class OpenReply {
  readonly #parts: ReplyParts;

  private constructor(parts: ReplyParts) {
    this.#parts = parts;
  }

  /** Evaluates the prompt of a request. */
  static async open(
    model: LoadedTextModel,
    request: StreamRequest,
    { writer, signal, onWanted }: OpenReplyOptions,
  ): Promise<OpenReply> {
    warnAboutRequest(request, writer);
    const { options } = request;
    const { engine, sampling } = model;
    const tools = selectTools(request);
    const prompt = buildPrompt(request, { model, tools });
    const blocks = new ReplyBlocks(writer, () => `call_${crypto.randomUUID().slice(0, 8)}`);
    const parser = createParser(request, { model, tools, prompt, blocks });
    const grammar = await createGrammarSwitch(request, { model, tools, parser });
    const generation = await engine.start({
      prompt: prompt.text,
      openingLength: prompt.openingLength,
      sampling: toSampling(options, sampling),
      getGrammar: () => grammar.select(parser),
      onWanted,
    }, signal);
    try {
      checkPrompt(generation, { contextSize: engine.contextSize, request });
      await generation.evaluatePrompt(signal);
    } catch (error) {
      await generation.release();
      throw error;
    }
    const { replyStart } = prompt;
    const { maxTokens = Infinity } = options;
    const parts = { model, writer, generation, parser, blocks, grammar, replyStart, maxTokens };
    return new OpenReply(parts);
  }

  /** Token counts so far. */
  get usage(): Usage {
    const { promptTokens, cachedTokens, generatedTokens: output } = this.#parts.generation;
    const input = promptTokens - cachedTokens;
    const total = promptTokens + output;
    return { input, output, cacheRead: cachedTokens, cacheWrite: 0, total };
  }

  /** Generates one token and writes what it completes. */
  async advance(): Promise<void> {
    const { grammar, generation, parser, maxTokens } = this.#parts;
    if (grammar.needsPreparation) await grammar.prepare();
    if (generation.generatedTokens >= maxTokens) return this.#finish("length");
    const step = await generation.next();
    parser.add(step.text);
    if (parser.phase === "stopped") return this.#finish("stop");
    if (step.type === "end") this.#finish("stop");
    if (step.type === "full") this.#finish("length");
  }

  /** Frees the sequence after the token in progress. */
  release(): Promise<void> {
    return this.#parts.generation.release();
  }

  #finish(stopReason: "stop" | "length"): void {
    const { model, writer, generation, parser, blocks, replyStart } = this.#parts;
    // The call may have been aborted during the last token.
    if (writer.ended) return;
    parser.end(stopReason === "stop");
    const content = blocks.getContent();
    // A text that ends the reply is no part of the conversation.
    if (content && parser.phase !== "stopped") {
      model.prompts.recordReply(content, replyStart, generation.getReplyText());
    }
    const hasCalls = parser.callCount > 0;
    writer.finish({
      stopReason: stopReason === "stop" && hasCalls ? "tool_use" : stopReason,
      usage: this.usage,
    });
  }
}

interface ReplyParts {
  readonly model: LoadedTextModel;
  readonly writer: BlockWriter;
  readonly generation: Generation;
  readonly parser: LocalParser;
  readonly blocks: ReplyBlocks;
  readonly grammar: GrammarSwitch;
  readonly replyStart: string;
  readonly maxTokens: number;
}

/** Returns the tools that the model may call. */
function selectTools({ context, options }: StreamRequest): readonly ToolSpec[] {
  const { toolChoice = "auto" } = options;
  if (toolChoice === "none") return [];
  if (typeof toolChoice !== "object") return context.tools;
  return context.tools.filter(({ name }) => name === toolChoice.name);
}

/** The model of a reply, and the tools that it may call. */
interface ReplyTools {
  readonly model: LoadedTextModel;
  readonly tools: readonly ToolSpec[];
}

function buildPrompt(
  { context, model: { thinkingLevel } }: StreamRequest,
  { model: { engine, prompts }, tools }: ReplyTools,
): BuiltPrompt {
  // The grammar enforces the choice of one tool; a prompt with all of them begins like the last one.
  const described = tools.length > 0 ? context.tools : [];
  return prompts.build({ ...context, tools: described }, {
    thinks: thinkingLevel !== "off",
    effort: EFFORTS[thinkingLevel],
    protect: (text) => engine.tokenizer.protect(text),
  });
}

function createParser(
  { options }: StreamRequest,
  { model: { prompts: { callFormat } }, tools, prompt: { replyStart }, blocks: writer }:
    & ReplyTools
    & { readonly prompt: BuiltPrompt; readonly blocks: ReplyBlocks },
): LocalParser {
  const stop = (options.stop ?? []).filter((text) => text !== "");
  const hasTools = tools.length > 0;
  if (callFormat === CHANNEL_CALLS) return new ChannelParser({ writer, stop, hasTools });
  const usedFormat = hasTools ? callFormat : undefined;
  return new ReplyParser({ writer, stop, replyStart, callFormat: usedFormat, tools });
}

function createGrammarSwitch(
  { options, model: { thinkingLevel } }: StreamRequest,
  { model: { engine, prompts }, tools, parser }: ReplyTools & { readonly parser: LocalParser },
): Promise<GrammarSwitch> {
  return GrammarSwitch.create({
    tools,
    toolChoice: options.toolChoice ?? "auto",
    responseSchema: options.responseSchema,
    callFormat: prompts.callFormat,
    thinks: thinkingLevel !== "off",
    startsThinking: parser.phase === "thinking",
    createGrammar: (text) => engine.createGrammar(text),
  });
}

function toSampling(options: StreamRequest["options"], defaults: Sampling): Sampling {
  const { temperature = defaults.temperature, topP = defaults.topP, seed } = options;
  return { ...defaults, temperature, topP, ...(seed !== undefined && { seed }) };
}

/** Refuses a prompt that leaves no place for a reply. */
function checkPrompt(
  { promptTokens }: Generation,
  { contextSize, request }: {
    readonly contextSize: number;
    readonly request: StreamRequest;
  },
): void {
  if (promptTokens < contextSize - 1) return;
  const { provider, modelId } = request.model;
  throw new ContextWindowOverflowError(
    `The prompt has ${promptTokens} tokens and the context of ${modelId} has ${contextSize}`,
    { provider, model: modelId },
  );
}

function warnAboutRequest({ context, options }: StreamRequest, writer: BlockWriter): void {
  const hasMedia = context.messages.some(({ content }) => content.some(isUnreadable));
  if (hasMedia) {
    writer.warning(
      "media_left_out",
      "Models on this device read only text; images, documents and audio are left out",
    );
  }
  const unsupported = Object.entries({
    serverTools: (options.serverTools ?? []).length > 0,
    serviceTier: options.serviceTier !== undefined,
    verbosity: options.verbosity !== undefined,
    extra: options.extra !== undefined && Object.keys(options.extra).length > 0,
  });
  for (const [name, isSet] of unsupported) {
    if (isSet) {
      const message = `Models on this device do not support the option ${name}`;
      writer.warning("unsupported_option", message);
    }
  }
}
