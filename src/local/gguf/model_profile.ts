/**
 * The properties of a model that the header of its file describes.
 *
 * @module
 */

import type { GgufHeader } from "./gguf_header.ts";

/** The properties of a model. */
export interface ModelProfile {
  /** Name of the model for people. */
  readonly name: string;
  /** Kind of network, such as `qwen3`. */
  readonly architecture: string;
  /** Number of tokens that the model was trained on; its largest context. */
  readonly contextLength: number;
  /** Template that converts messages to the model's prompt; empty if it has none. */
  readonly chatTemplate: string;
  /** Size of the file in bytes, nearly all of it weights. */
  readonly fileSize: number;
  /** Bytes of the cache that each token of the context takes. */
  readonly bytesPerToken: number;
  /** Whether the model only creates embeddings. */
  readonly isEmbeddingModel: boolean;
}

/** Networks that read a text at once and cannot write one. */
const ENCODERS: readonly string[] = [
  "bert",
  "nomic-bert",
  "nomic-bert-moe",
  "jina-bert-v2",
  "jina-bert-v3",
  "modern-bert",
  "neo-bert",
  "gemma-embedding",
];

/** Bytes of a number in the cache, which has 16 bits. */
const CACHE_BYTES = 2;

/** Returns the properties of the model with this header. */
export function createModelProfile({ metadata, lists, fileSize }: GgufHeader): ModelProfile {
  const architecture = String(metadata.get("general.architecture") ?? "unknown");
  const read = (key: string) => toCount(metadata.get(`${architecture}.${key}`));
  const layers = read("block_count") ?? 0;
  const embedding = read("embedding_length") ?? 0;
  // Some networks have another number of heads in each layer.
  const headCounts = lists.get(`${architecture}.attention.head_count`) ?? [];
  const heads = Math.max(read("attention.head_count") ?? 1, ...headCounts);
  const perHead = embedding / heads;
  const perLayer = lists.get(`${architecture}.attention.head_count_kv`);
  const cacheHeads = perLayer?.reduce((sum, count) => sum + Math.max(0, count), 0) ??
    (read("attention.head_count_kv") ?? heads) * layers;
  const width = (read("attention.key_length") ?? perHead) +
    (read("attention.value_length") ?? perHead);
  return {
    name: String(metadata.get("general.name") ?? architecture),
    architecture,
    contextLength: read("context_length") ?? 2048,
    chatTemplate: String(metadata.get("tokenizer.chat_template") ?? ""),
    fileSize,
    bytesPerToken: Math.ceil(cacheHeads * width * CACHE_BYTES),
    isEmbeddingModel: ENCODERS.includes(architecture) ||
      metadata.get(`${architecture}.pooling_type`) !== undefined,
  };
}

function toCount(value: string | number | boolean | undefined): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;
}
