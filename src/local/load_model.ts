/**
 * Loads a model file with llama.cpp.
 *
 * @module
 */

import { AgentError, BadRequestError, getErrorMessage } from "../core/errors/errors.ts";
import { type GgufHeader, readGgufHeader } from "./gguf/gguf_header.ts";
import { checkMemory, estimateMemory, type MemoryEstimate } from "./gguf/memory_estimate.ts";
import { createModelProfile, type ModelProfile } from "./gguf/model_profile.ts";
import { readFreeMemory } from "./llama/free_memory.ts";
import {
  type LlamaEmbeddingContext,
  type LlamaModel,
  type LlamaPackage,
  type LlamaRuntime,
  loadLlamaPackage,
  loadLlamaRuntime,
} from "./llama/llama_runtime.ts";
import { runInTurn } from "./llama/run_in_turn.ts";
import { type Sampling, TextEngine, type TextEngineOptions } from "./llama/text_engine.ts";
import type { LocalModelOptions, ModelPurpose } from "./local_model_options.ts";
import { ChatTemplate } from "./prompt/chat_template.ts";
import { PromptBuilder } from "./prompt/prompt_builder.ts";
import type { LoadedTextModel } from "./reply/loaded_text_model.ts";
import type { ModelPlace } from "./store/model_store.ts";

/** Creates embeddings. */
export interface EmbeddingEngine {
  /** Number of components of a vector. */
  readonly dimensions: number;
  /** Splits a text into tokens. */
  tokenize(text: string): number[];
  /**
   * Returns the vector of a text as the model gives it. Texts wait for each other, which an abort ends; it does not interrupt
   * the text in progress, without whose end the model must not be released.
   */
  embed(tokens: number[], signal: AbortSignal): Promise<readonly number[]>;
}

/** A loaded model. */
export interface LoadedModel {
  /** Properties of the model. */
  readonly profile: ModelProfile;
  /** Number of tokens of the context. */
  readonly contextSize: number;
  /** Estimated memory. */
  readonly memory: MemoryEstimate;
  /** Writes text; only for the purpose `chat`. */
  readonly text?: LoadedTextModel;
  /** Creates embeddings; only for the purpose `embedding`. */
  readonly embedding?: EmbeddingEngine;
  /** Releases the memory. */
  dispose(): Promise<void>;
}

/** Options for `loadModel()`. */
export interface LoadOptions extends Omit<LocalModelOptions, "model"> {
  readonly purpose: ModelPurpose;
  readonly signal: AbortSignal;
  /** Called with the progress from 0 to 1. */
  readonly onProgress: (progress: number) => void;
}

/** Sizes of the context that are tried, unless one is given. */
const CONTEXT_SIZES = [16_384, 8_192, 4_096, 2_048] as const;

/** The defaults of llama.cpp. */
const DEFAULT_SAMPLING: Sampling = { temperature: 0.8, topP: 0.95, topK: 40, minP: 0.05 };

/**
 * Loads a model.
 *
 * @throws {AgentError} If the file is invalid, the memory is too small, or llama.cpp cannot load it.
 */
export async function loadModel(place: ModelPlace, options: LoadOptions): Promise<LoadedModel> {
  const header = await readGgufHeader(place.path);
  const profile = createModelProfile(header);
  checkPurpose(profile, place, options.purpose);
  const { signal, gpu = "auto", llama } = options;
  // The module has the used part, apart from its types.
  const llamaPackage = llama as LlamaPackage | undefined ?? await loadLlamaPackage();
  const runtime = await loadLlamaRuntime(llamaPackage, gpu);
  signal.throwIfAborted();
  const context = { header, profile, place, options };
  // Each load sees the memory that the earlier ones have taken.
  return await runInTurn(llamaPackage, signal, async () => {
    try {
      const plan = await planMemory(runtime, context);
      runtime.takeLoadError();
      return await load(runtime, { ...context, plan });
    } catch (cause) {
      if (AgentError.is(cause) || signal.aborted) throw cause;
      throw createLoadError(cause, runtime, place);
    }
  });
}

function createLoadError(
  cause: unknown,
  runtime: LlamaRuntime,
  { name }: ModelPlace,
): BadRequestError {
  const reason = runtime.takeLoadError() ?? getErrorMessage(cause);
  const advice = reason.startsWith("unknown model architecture")
    ? "; a newer version of node-llama-cpp may support it"
    : "";
  const message = `llama.cpp cannot load the model ${name}: ${reason}${advice}`;
  return new BadRequestError(message, { cause });
}

function checkPurpose(
  { isEmbeddingModel, architecture }: ModelProfile,
  { name }: ModelPlace,
  purpose: ModelPurpose,
): void {
  if (purpose === "chat" && isEmbeddingModel) {
    throw new BadRequestError(
      `The model ${name} (${architecture}) only creates embeddings: use it with createEmbedder()`,
    );
  }
}

interface LoadContext {
  readonly header: GgufHeader;
  readonly profile: ModelProfile;
  readonly place: ModelPlace;
  readonly options: LoadOptions;
}

interface MemoryPlan {
  readonly contextSize: number;
  readonly sequences: number;
  readonly memory: MemoryEstimate;
}

async function planMemory(
  { llama }: LlamaRuntime,
  { profile, place, options }: LoadContext,
): Promise<MemoryPlan> {
  const { purpose, parallel = 1, memoryLimit } = options;
  const available = memoryLimit ?? await readFreeMemory(llama);
  const sequences = purpose === "chat" ? parallel : 1;
  const estimate = (contextSize: number) =>
    estimateMemory(profile, {
      contextSize,
      sequences,
      // Embeddings are made of whole texts.
      ...(purpose === "embedding" && { batchSize: contextSize }),
    });
  const maximum = profile.contextLength;
  const sizes = options.contextSize === undefined
    ? CONTEXT_SIZES.map((size) => Math.min(size, maximum))
    : [Math.min(options.contextSize, maximum)];
  const smallest = sizes.at(-1) ?? maximum;
  const contextSize = sizes.find((size) => estimate(size).total <= available) ?? smallest;
  const memory = estimate(contextSize);
  checkMemory(memory, { available, name: place.name, contextSize });
  return { contextSize, sequences, memory };
}

async function load(
  runtime: LlamaRuntime,
  { header, profile, place, options, plan }: LoadContext & { readonly plan: MemoryPlan },
): Promise<LoadedModel> {
  const { llama } = runtime;
  const { signal, onProgress, purpose, threads = Math.max(1, llama.cpuMathCores) } = options;
  const { contextSize, sequences, memory } = plan;
  const isEmbedding = purpose === "embedding";
  // The memory was checked; the package would count that of cached files as occupied.
  const ignoreMemorySafetyChecks = options.memoryLimit === Infinity || llama.gpu === false;
  const model = await llama.loadModel({
    modelPath: place.path,
    loadSignal: signal,
    // After an abort, the package would keep the function forever, and with it the process.
    get onLoadProgress() {
      return signal.aborted ? undefined : onProgress;
    },
    gpuLayers: { fitContext: { contextSize, embeddingContext: isEmbedding } },
    ignoreMemorySafetyChecks,
  });
  try {
    const settings = { contextSize, threads, createSignal: signal, ignoreMemorySafetyChecks };
    const dispose = () => model.dispose();
    if (isEmbedding) {
      const context = await model.createEmbeddingContext({ ...settings, batchSize: contextSize });
      const embedding = createEmbeddingEngine(model, context);
      return { profile, contextSize, memory, embedding, dispose };
    }
    const context = await model.createContext({ ...settings, sequences });
    const { spacedTokens } = header;
    const parts = { runtime, model, context, sequences, spacedTokens };
    const text = await createTextModel({ ...parts, profile, place });
    return { profile, contextSize: context.contextSize, memory, text, dispose };
  } catch (error) {
    await model.dispose();
    throw error;
  }
}

interface TextModelParts extends Pick<LoadContext, "profile" | "place">, TextEngineOptions {}

async function createTextModel(
  { profile, place, ...parts }: TextModelParts,
): Promise<LoadedTextModel> {
  const engine = new TextEngine(parts);
  const template = await ChatTemplate.parse(profile.chatTemplate, engine.specialTexts);
  return {
    engine,
    prompts: new PromptBuilder(template),
    sampling: place.preset?.sampling ?? DEFAULT_SAMPLING,
  };
}

function createEmbeddingEngine(
  model: LlamaModel,
  context: LlamaEmbeddingContext,
): EmbeddingEngine {
  return {
    dimensions: model.embeddingVectorSize,
    tokenize: (text) => model.tokenize(text),
    embed: (tokens, signal) =>
      runInTurn(
        context,
        signal,
        async () => (await context.getEmbeddingFor(tokens)).vector,
      ),
  };
}
