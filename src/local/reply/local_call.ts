/**
 * One model call on this device: from a request to the events of the reply.
 *
 * @module
 */

import {
  AgentError,
  ContextWindowOverflowError,
  getErrorMessage,
  StreamError,
} from "../../core/errors/errors.ts";
import type { ThinkingLevel } from "../../core/models/model.ts";
import type { Usage } from "../../core/models/usage.ts";
import { ReadableQueue } from "../../core/ports/readable_queue.ts";
import { BlockWriter } from "../../core/streams/block_writer.ts";
import type { AssistantMessageEvent, StreamRequest } from "../../core/streams/stream.ts";
import { redact } from "../../core/text/redact.ts";
import type { Generation, Sampling } from "../llama/text_engine.ts";
import { CHANNEL_CALLS } from "../prompt/call_format.ts";
import { isUnreadable } from "../prompt/chat_message.ts";
import type { ReasoningEffort } from "../prompt/chat_template.ts";
import { ChannelParser } from "./channel_parser.ts";
import { GrammarSwitch } from "./grammar_switch.ts";
import type { LoadedTextModel } from "./loaded_text_model.ts";
import { ReplyBlocks } from "./reply_blocks.ts";
import { ReplyParser } from "./reply_parser.ts";

/** Lends a loaded model for the time of a call. */
export interface TextModelSource {
  /**
   * Loads the model if needed, and keeps it loaded until `use` has ended.
   *
   * @throws {AgentError} If it cannot be loaded.
   */
  use<Result>(
    signal: AbortSignal,
    use: (model: LoadedTextModel) => Promise<Result>,
  ): Promise<Result>;
}

/** Creates the event stream of a call. The model is loaded when the first event is read. */
export function streamLocalCall(
  request: StreamRequest,
  source: TextModelSource,
): ReadableStream<AssistantMessageEvent> {
  return new LocalCall(request, source).events.stream();
}

class LocalCall {
  readonly events: ReadableQueue<AssistantMessageEvent>;
  readonly #request: StreamRequest;
  readonly #source: TextModelSource;
  readonly #writer: BlockWriter;
  /** Aborted when the call has ended in any way. */
  readonly #end = new AbortController();
  readonly #onAbort = () => this.#abort();
  #reply: OpenReply | undefined;
  /** The latest step. */
  #step: Promise<void> | undefined;
  /** All further steps, if they do not wait for the reader. */
  #rest: Promise<void> | undefined;
  #isStarted = false;
  #isClosed = false;

  constructor(request: StreamRequest, source: TextModelSource) {
    this.#request = request;
    this.#source = source;
    this.events = new ReadableQueue({
      pull: () => this.#rest ?? (this.#step = this.#advance()),
      cancel: () => this.#close(),
      readAhead: true,
    });
    this.#writer = new BlockWriter((event) => this.#send(event));
  }

  /** Takes one step: starts the reply, loads the model and evaluates the prompt, or generates a token. */
  async #advance(): Promise<void> {
    if (!this.#isStarted) return this.#start();
    try {
      if (this.#reply) await this.#reply.advance();
      else await this.#open();
    } catch (thrown) {
      if (!this.#writer.ended && !this.#isClosed) {
        this.#writer.fail(toError(thrown, this.#request), this.#reply?.usage);
      }
    }
    if (this.#writer.ended && !this.#isClosed) this.#close();
  }

  /**
   * Takes the further steps without waiting for the reader, since other requests would wait as long as one that reads
   * slowly, or no more. The size of the context limits what is not read.
   */
  async #advanceToEnd(): Promise<void> {
    await this.#step;
    while (!this.#isClosed) await this.#advance();
  }

  #start(): void {
    const { signal } = this.#request;
    this.#isStarted = true;
    this.#writer.start();
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Opens the reply within a use of the model that lasts until the call has ended. */
  #open(): Promise<void> {
    const { signal } = this.#end;
    return new Promise((resolve, reject) => {
      const use = async (model: LoadedTextModel) => {
        this.#reply = await OpenReply.open(model, this.#request, {
          writer: this.#writer,
          signal,
          onWanted: () => void (this.#rest ??= this.#advanceToEnd()),
        });
        resolve();
        await untilAborted(signal);
        await this.#reply.release();
      };
      this.#source.use(signal, use).catch(reject);
    });
  }

  #send(event: AssistantMessageEvent): void {
    // A caller that has read the last event may unload the model, which then waits for the end of the use.
    if (event.type === "done" || event.type === "error") this.#endUse();
    this.events.push(event);
  }

  #abort(): void {
    this.#writer.abort(this.#request.signal.reason, this.#reply?.usage);
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#request.signal.removeEventListener("abort", this.#onAbort);
    this.#endUse();
    this.events.close();
  }

  #endUse(): void {
    this.#end.abort(this.#request.signal.reason);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function toError(thrown: unknown, { model, options }: StreamRequest): AgentError {
  const { provider, modelId } = model;
  if (AgentError.is(thrown)) return redactError(thrown, options.apiKey);
  const message = `The model ${modelId} failed: ${getErrorMessage(thrown)}`;
  return new StreamError(message, { provider, model: modelId, cause: thrown });
}

/** A key of the request may be part of an error of `fetch`. */
function redactError(error: AgentError, apiKey = ""): AgentError {
  const message = redact(error.message, [apiKey]);
  if (message === error.message) return error;
  const { cause: _cause, ...record } = error.toJSON();
  return AgentError.from({ ...record, message });
}

const EFFORTS: Readonly<Record<ThinkingLevel, ReasoningEffort>> = {
  off: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  extra_high: "high",
};

interface OpenReplyOptions {
  readonly writer: BlockWriter;
  readonly signal: AbortSignal;
  /** Called when another request waits for the sequence of the reply. */
  readonly onWanted: () => void;
}

/** A reply that is being generated. */
class OpenReply {
  readonly #model: LoadedTextModel;
  readonly #writer: BlockWriter;
  readonly #generation: Generation;
  readonly #parser: ReplyParser | ChannelParser;
  readonly #blocks: ReplyBlocks;
  readonly #grammar: GrammarSwitch;
  readonly #replyStart: string;
  readonly #maxTokens: number;

  private constructor(model: LoadedTextModel, parts: ReplyParts) {
    this.#model = model;
    this.#writer = parts.writer;
    this.#generation = parts.generation;
    this.#parser = parts.parser;
    this.#blocks = parts.blocks;
    this.#grammar = parts.grammar;
    this.#replyStart = parts.replyStart;
    this.#maxTokens = parts.maxTokens;
  }

  /** Evaluates the prompt of a request. */
  static async open(
    model: LoadedTextModel,
    request: StreamRequest,
    { writer, signal, onWanted }: OpenReplyOptions,
  ): Promise<OpenReply> {
    const { context, options, model: { thinkingLevel } } = request;
    const { engine, prompts } = model;
    warnAboutRequest(request, writer);
    const toolChoice = options.toolChoice ?? "auto";
    const tools = context.tools.filter(({ name }) =>
      toolChoice !== "none" && (typeof toolChoice !== "object" || toolChoice.name === name)
    );
    const thinks = thinkingLevel !== "off";
    // The grammar enforces the choice of one tool; a prompt with all of them begins like the last one.
    const described = tools.length > 0 ? context.tools : [];
    const prompt = prompts.build({ ...context, tools: described }, {
      thinks,
      effort: EFFORTS[thinkingLevel],
      protect: (text) => engine.tokenizer.protect(text),
    });
    const blocks = new ReplyBlocks(writer, () => `call_${crypto.randomUUID().slice(0, 8)}`);
    const parts = { writer: blocks, stop: (options.stop ?? []).filter((text) => text !== "") };
    const parser = prompts.callFormat === CHANNEL_CALLS
      ? new ChannelParser({ ...parts, hasTools: tools.length > 0 })
      : new ReplyParser({
        ...parts,
        replyStart: prompt.replyStart,
        callFormat: tools.length > 0 ? prompts.callFormat : undefined,
        tools,
      });
    const grammar = await GrammarSwitch.create({
      tools,
      toolChoice,
      responseSchema: options.responseSchema,
      callFormat: prompts.callFormat,
      thinks,
      startsThinking: parser.phase === "thinking",
      createGrammar: (text) => engine.createGrammar(text),
    });
    const generation = await engine.start({
      prompt: prompt.text,
      openingLength: prompt.openingLength,
      sampling: toSampling(options, model.sampling),
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
    const maxTokens = options.maxTokens ?? Infinity;
    return new OpenReply(model, {
      writer,
      generation,
      parser,
      blocks,
      grammar,
      replyStart,
      maxTokens,
    });
  }

  /** Token counts so far. */
  get usage(): Usage {
    const { promptTokens, cachedTokens, generatedTokens: output } = this.#generation;
    const input = promptTokens - cachedTokens;
    const total = promptTokens + output;
    return { input, output, cacheRead: cachedTokens, cacheWrite: 0, total };
  }

  /** Generates one token and writes what it completes. */
  async advance(): Promise<void> {
    if (this.#grammar.needsPreparation) await this.#grammar.prepare();
    if (this.#generation.generatedTokens >= this.#maxTokens) return this.#finish("length");
    const step = await this.#generation.next();
    this.#parser.add(step.text);
    if (this.#parser.phase === "stopped") return this.#finish("stop");
    if (step.type === "end") this.#finish("stop");
    if (step.type === "full") this.#finish("length");
  }

  /** Frees the sequence after the token in progress. */
  release(): Promise<void> {
    return this.#generation.release();
  }

  #finish(stopReason: "stop" | "length"): void {
    // The call may have been aborted during the last token.
    if (this.#writer.ended) return;
    this.#parser.end(stopReason === "stop");
    const content = this.#blocks.getContent();
    // A text that ends the reply is no part of the conversation.
    if (content && this.#parser.phase !== "stopped") {
      const text = this.#generation.getReplyText();
      this.#model.prompts.recordReply(content, this.#replyStart, text);
    }
    const hasCalls = this.#parser.callCount > 0;
    this.#writer.finish({
      stopReason: stopReason === "stop" && hasCalls ? "tool_use" : stopReason,
      usage: this.usage,
    });
  }
}

interface ReplyParts {
  readonly writer: BlockWriter;
  readonly generation: Generation;
  readonly parser: ReplyParser | ChannelParser;
  readonly blocks: ReplyBlocks;
  readonly grammar: GrammarSwitch;
  readonly replyStart: string;
  readonly maxTokens: number;
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
