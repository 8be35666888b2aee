/**
 * Writes a small model that llama.cpp loads: a llama with two layers of 32 dimensions and a byte-level vocabulary.
 *
 * Its layers have small random weights. Its output weights make each token of a script predict the next one, so that the
 * model writes known texts; elsewhere they are random.
 *
 * @module
 */

import { seededRandom } from "../../src/testing/seeded_random.ts";

/** Options for `createTinyModel()`. */
export interface TinyModelOptions {
  /**
   * Sequences of tokens. Each token is one entry of the vocabulary and predicts the next one. A token that several
   * sequences contain must have the same successor in all of them. Default: none.
   */
  readonly scripts?: readonly (readonly string[])[];
  /** The chat template. Default: {@linkcode CHAT_TEMPLATE}. */
  readonly chatTemplate?: string;
  /** Number of tokens that the model was trained on. Default: 2048. */
  readonly contextLength?: number;
  /** Seed of the weights. Default: 1. */
  readonly seed?: number;
  /** Kind of pooling, which makes it a model for embeddings. Default: none. */
  readonly pooling?: "mean";
  /** Number of tokens that a layer sees, which makes it a model of the kind of Gemma 3. Default: all. */
  readonly slidingWindow?: number;
  /** Whether texts get a token at their start and at their end. Default: `false`. */
  readonly addsEnds?: boolean;
}

const DIMENSIONS = 32;
const LAYERS = 2;
const HEADS = 4;
const FEED_FORWARD = 32;

/** Tokens with a meaning for the model, whose text cannot come from plain text. */
const CONTROL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];

/**
 * A template like that of Qwen. It begins the reply with a token named in the last message, `<|weather|>` for instance,
 * so that the message selects the script.
 */
export const CHAT_TEMPLATE = `{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}

{% endif %}# Tools
<tools>{% for tool in tools %}
{{ tool | tojson }}{% endfor %}
</tools>
For each function call, return a json object within <tool_call></tool_call> tags.<|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}<|im_start|>user
{{ message.content }}<|im_end|>
{% elif message.role == 'assistant' %}<|im_start|>assistant
{{ message.content }}{% for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% elif message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% if messages[-1].role == 'tool' %}<|answer|>{% elif messages[-1].content.startswith('!') %}<|{{ messages[-1].content.split(' ')[0][1:] }}|>{% endif %}{% endif %}`;

/** Returns the bytes of a GGUF file. Equal options give equal bytes. */
export function createTinyModel(options: TinyModelOptions = {}): Uint8Array<ArrayBuffer> {
  const { scripts = [], contextLength = 2048, chatTemplate = CHAT_TEMPLATE, pooling } = options;
  const { addsEnds = false, slidingWindow } = options;
  const architecture = slidingWindow === undefined ? "llama" : "gemma3";
  const vocabulary = createVocabulary(scripts);
  const tensors = createTensors(vocabulary, options);
  const writer = new GgufWriter();
  writer.header(tensors.length, 23 + (pooling ? 1 : 0) + (slidingWindow === undefined ? 0 : 3));
  writer.text("general.architecture", architecture);
  writer.text("general.name", "Tiny");
  writer.count("general.file_type", 0);
  writer.count(`${architecture}.context_length`, contextLength);
  writer.count(`${architecture}.embedding_length`, DIMENSIONS);
  writer.count(`${architecture}.block_count`, LAYERS);
  writer.count(`${architecture}.feed_forward_length`, FEED_FORWARD);
  writer.count(`${architecture}.attention.head_count`, HEADS);
  writer.count(`${architecture}.attention.head_count_kv`, HEADS / 2);
  writer.number(`${architecture}.attention.layer_norm_rms_epsilon`, 1e-5);
  writer.count(`${architecture}.rope.dimension_count`, DIMENSIONS / HEADS);
  writer.count(`${architecture}.vocab_size`, vocabulary.texts.length);
  writer.text("tokenizer.ggml.model", "gpt2");
  writer.text("tokenizer.ggml.pre", "gpt-2");
  writer.texts("tokenizer.ggml.tokens", vocabulary.texts);
  writer.counts("tokenizer.ggml.token_type", vocabulary.types);
  writer.texts("tokenizer.ggml.merges", ["t h"]);
  writer.count("tokenizer.ggml.bos_token_id", vocabulary.find("<|endoftext|>"));
  writer.count("tokenizer.ggml.eos_token_id", vocabulary.find("<|im_end|>"));
  writer.flag("tokenizer.ggml.add_bos_token", addsEnds);
  writer.flag("tokenizer.ggml.add_eos_token", addsEnds);
  writer.text("tokenizer.chat_template", chatTemplate);
  if (slidingWindow !== undefined) {
    writer.count(`${architecture}.attention.sliding_window`, slidingWindow);
    writer.count(`${architecture}.attention.key_length`, DIMENSIONS / HEADS);
    writer.count(`${architecture}.attention.value_length`, DIMENSIONS / HEADS);
  }
  writer.count("general.quantization_version", 2);
  if (pooling) writer.count(`${architecture}.pooling_type`, 1);
  writer.tensors(tensors);
  return writer.bytes();
}

interface Vocabulary {
  readonly texts: readonly string[];
  /** 1 for a normal token, 3 for a control token, 4 for one that text always becomes. */
  readonly types: readonly number[];
  find(text: string): number;
}

function createVocabulary(scripts: readonly (readonly string[])[]): Vocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte) => toByteCharacter(byte));
  const words = new Set(["<think>", "</think>", "<tool_call>", "</tool_call>", ...scripts.flat()]);
  // llama.cpp ends the process if two tokens have the same text.
  for (const text of [...bytes, "th", ...CONTROL_TOKENS]) words.delete(text);
  const texts = [...bytes, "th", ...words, ...CONTROL_TOKENS];
  const types = texts.map((text, index) => {
    if (index >= texts.length - CONTROL_TOKENS.length) return 3;
    // Entries with the character for a space are encoded like those of bytes.
    return index > 256 && !text.startsWith("Ġ") ? 4 : 1;
  });
  return { texts, types, find: (text) => texts.indexOf(text) };
}

/** Returns the character for a byte in vocabularies of GPT-2, which have no control characters and spaces. */
function toByteCharacter(byte: number): string {
  const isVisible = byte >= 33 && byte <= 126 || byte >= 161 && byte <= 172 || byte >= 174;
  if (isVisible) return String.fromCharCode(byte);
  const hidden = byte < 33 ? byte : byte < 161 ? byte - 127 + 33 : 67;
  return String.fromCharCode(256 + hidden);
}

interface Tensor {
  readonly name: string;
  /** Numbers of columns and rows, or of the elements of a vector. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

function createTensors(vocabulary: Vocabulary, options: TinyModelOptions): Tensor[] {
  const random = seededRandom(options.seed ?? 1);
  const matrix = (name: string, shape: readonly [number, number], scale: number): Tensor => ({
    name,
    shape,
    values: Float32Array.from({ length: shape[0] * shape[1] }, () => scale * gaussian(random)),
  });
  const embedding = matrix("token_embd.weight", [DIMENSIONS, vocabulary.texts.length], 1);
  const output = matrix("output.weight", [DIMENSIONS, vocabulary.texts.length], 0.05);
  for (const [text, next] of listPredictions(options.scripts ?? [])) {
    predict({ embedding, output }, vocabulary, [text, next]);
  }
  const layers = Array.from({ length: LAYERS }, (_, layer) => [
    ones(`blk.${layer}.attn_norm.weight`),
    matrix(`blk.${layer}.attn_q.weight`, [DIMENSIONS, DIMENSIONS], 0.1),
    matrix(`blk.${layer}.attn_k.weight`, [DIMENSIONS, DIMENSIONS / 2], 0.1),
    matrix(`blk.${layer}.attn_v.weight`, [DIMENSIONS, DIMENSIONS / 2], 0.02),
    matrix(`blk.${layer}.attn_output.weight`, [DIMENSIONS, DIMENSIONS], 0.02),
    ...(options.slidingWindow === undefined ? [] : createNorms(layer)),
    ones(`blk.${layer}.ffn_norm.weight`),
    matrix(`blk.${layer}.ffn_gate.weight`, [DIMENSIONS, FEED_FORWARD], 0.02),
    matrix(`blk.${layer}.ffn_up.weight`, [DIMENSIONS, FEED_FORWARD], 0.02),
    matrix(`blk.${layer}.ffn_down.weight`, [FEED_FORWARD, DIMENSIONS], 0.02),
  ]);
  return [embedding, ones("output_norm.weight"), output, ...layers.flat()];
}

/** Creates the tensors that a layer of Gemma 3 has in addition. */
function createNorms(layer: number): Tensor[] {
  return [
    ones(`blk.${layer}.attn_q_norm.weight`, DIMENSIONS / HEADS),
    ones(`blk.${layer}.attn_k_norm.weight`, DIMENSIONS / HEADS),
    ones(`blk.${layer}.post_attention_norm.weight`),
    ones(`blk.${layer}.post_ffw_norm.weight`),
  ];
}

function ones(name: string, length = DIMENSIONS): Tensor {
  return { name, shape: [length], values: new Float32Array(length).fill(1) };
}

/** Returns the successor of each token. */
function listPredictions(scripts: readonly (readonly string[])[]): Map<string, string> {
  const successors = new Map<string, string>();
  for (const script of scripts) {
    for (const [index, text] of script.slice(0, -1).entries()) {
      const next = script[index + 1] ?? "";
      const known = successors.get(text) ?? next;
      if (known !== next) throw new Error(`${text} has two successors: ${known}, ${next}`);
      successors.set(text, next);
    }
  }
  return successors;
}

/** Strength of a prediction compared with the random weights: certain also at high temperatures. */
const PREDICTION = 4;

function predict(
  { embedding, output }: { embedding: Tensor; output: Tensor },
  vocabulary: Vocabulary,
  [text, next]: readonly [string, string],
): void {
  const from = vocabulary.find(text) * DIMENSIONS;
  const to = vocabulary.find(next) * DIMENSIONS;
  for (let index = 0; index < DIMENSIONS; index++) {
    const weight = embedding.values[from + index] ?? 0;
    output.values[to + index] = (output.values[to + index] ?? 0) + PREDICTION * weight;
  }
}

function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Types of metadata in a GGUF file. */
const GGUF_TYPES = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const ALIGNMENT = 32;

/** Writes the parts of a GGUF file, version 3. */
class GgufWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  header(tensors: number, entries: number): void {
    this.#push(new TextEncoder().encode("GGUF"));
    this.#uint32(3);
    this.#uint64(tensors);
    this.#uint64(entries);
  }

  text(key: string, value: string): void {
    this.#key(key, GGUF_TYPES.string);
    this.#string(value);
  }

  count(key: string, value: number): void {
    this.#key(key, GGUF_TYPES.uint32);
    this.#uint32(value);
  }

  number(key: string, value: number): void {
    this.#key(key, GGUF_TYPES.float32);
    this.#push(new Uint8Array(new Float32Array([value]).buffer));
  }

  flag(key: string, value: boolean): void {
    this.#key(key, GGUF_TYPES.bool);
    this.#push(new Uint8Array([Number(value)]));
  }

  texts(key: string, values: readonly string[]): void {
    this.#list(key, GGUF_TYPES.string, values.length);
    for (const value of values) this.#string(value);
  }

  counts(key: string, values: readonly number[]): void {
    this.#list(key, GGUF_TYPES.int32, values.length);
    for (const value of values) this.#uint32(value);
  }

  tensors(tensors: readonly Tensor[]): void {
    let offset = 0;
    for (const { name, shape, values } of tensors) {
      this.#string(name);
      this.#uint32(shape.length);
      for (const size of shape) this.#uint64(size);
      this.#uint32(0); // F32
      this.#uint64(offset);
      offset += Math.ceil(values.byteLength / ALIGNMENT) * ALIGNMENT;
    }
    for (const { values } of tensors) {
      this.#align();
      this.#push(new Uint8Array(values.buffer));
    }
    this.#align();
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#length);
    let offset = 0;
    for (const part of this.#parts) {
      bytes.set(part, offset);
      offset += part.length;
    }
    return bytes;
  }

  #key(key: string, type: number): void {
    this.#string(key);
    this.#uint32(type);
  }

  #list(key: string, type: number, length: number): void {
    this.#key(key, GGUF_TYPES.array);
    this.#uint32(type);
    this.#uint64(length);
  }

  #string(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.#uint64(bytes.length);
    this.#push(bytes);
  }

  #uint32(value: number): void {
    this.#push(new Uint8Array(new Uint32Array([value]).buffer));
  }

  #uint64(value: number): void {
    this.#push(new Uint8Array(new BigUint64Array([BigInt(value)]).buffer));
  }

  #align(): void {
    const rest = this.#length % ALIGNMENT;
    if (rest > 0) this.#push(new Uint8Array(ALIGNMENT - rest));
  }

  #push(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#length += bytes.length;
  }
}
