/**
 * Embeddings by a model on this device.
 *
 * @module
 */

import {
  AbortedError,
  BadRequestError,
  ContextWindowOverflowError,
  getErrorMessage,
  StreamError,
} from "../core/errors/errors.ts";
import type { EmbeddingEngine, LoadedModel } from "./load_model.ts";
import { LocalModel, useModel } from "./local_model.ts";
import type { LocalModelOptions } from "./local_model_options.ts";

/** Options for `Embedder.embed()`. */
export interface EmbedOptions {
  /** Ends the work after the current text. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/** Creates embeddings. */
export interface Embedder extends AsyncDisposable {
  /** The model. */
  readonly model: LocalModel;
  /**
   * Returns a vector of length 1 for each text, in order. The product of two vectors is the similarity of their texts.
   *
   * @throws {AgentError} If the model cannot be loaded. `context_window_overflow` for a text that is too long.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
}

/**
 * Creates embeddings of texts, with a model on this device, which is downloaded and loaded on first use.
 *
 * @example
 * ```ts ignore
 * import { createEmbedder } from "@swink/agent/local";
 *
 * await using embedder = createEmbedder({ model: "nomic-embed-text-v1.5" });
 * const [question, answer] = await embedder.embed(["search_query: …", "search_document: …"]);
 * ```
 *
 * @throws {BadRequestError} If an option is invalid.
 */
export function createEmbedder(options: LocalModelOptions): Embedder {
  const model = new LocalModel(options, "embedding");
  return {
    model,
    async embed(texts, { signal = new AbortController().signal } = {}) {
      if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string")) {
        throw new BadRequestError("Pass an array of texts to embed()");
      }
      return await useModel(model, signal, (loaded) => embedAll(texts, loaded, signal));
    },
    [Symbol.asyncDispose]: () => model.unload(),
  };
}

async function embedAll(
  texts: readonly string[],
  { embedding, contextSize }: LoadedModel,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  if (!embedding) throw new BadRequestError("The model was not loaded for embeddings");
  const inputs = texts.map((text, index) => tokenize(text, { embedding, contextSize, index }));
  const vectors: Float32Array[] = [];
  for (const tokens of inputs) {
    const vector = await embedTokens(tokens, embedding, signal);
    vectors.push(normalize(Float32Array.from(vector)));
  }
  return vectors;
}

async function embedTokens(
  tokens: number[],
  embedding: EmbeddingEngine,
  signal: AbortSignal,
): Promise<readonly number[]> {
  try {
    signal.throwIfAborted();
    const vector = await embedding.embed(tokens, signal);
    signal.throwIfAborted();
    return vector;
  } catch (error) {
    if (signal.aborted) throw new AbortedError("embed() was aborted", { cause: signal.reason });
    const message = `The model cannot embed a text: ${getErrorMessage(error)}`;
    throw new StreamError(message, { cause: error });
  }
}

function tokenize(
  text: string,
  { embedding, contextSize, index }: {
    readonly embedding: EmbeddingEngine;
    readonly contextSize: number;
    readonly index: number;
  },
): number[] {
  const tokens = embedding.tokenize(text);
  if (tokens.length === 0) throw new BadRequestError(`Text ${index} is empty: nothing to embed`);
  // The model may add a token at the start and at the end, and does not use the last place of the context.
  if (tokens.length + 2 < contextSize) return tokens;
  throw new ContextWindowOverflowError(
    `Text ${index} has ${tokens.length} tokens and the context ${contextSize}: divide the text`,
  );
}

/** Divides a vector by its length; one without a direction stays as it is. */
function normalize(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const component of vector) sum += component * component;
  const length = Math.sqrt(sum);
  return Number.isFinite(length) && length > 0
    ? vector.map((component) => component / length)
    : vector;
}
