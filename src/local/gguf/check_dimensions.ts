/**
 * Checks the dimensions of a model, for which llama.cpp ends the process if one is missing or zero.
 *
 * @module
 */

import { InvalidFileError } from "./byte_source.ts";

/** The parts of a header that have or need dimensions. */
interface Dimensions {
  readonly metadata: ReadonlyMap<string, string | number | boolean>;
  readonly lists: ReadonlyMap<string, readonly number[]>;
  readonly tensorNames: ReadonlySet<string>;
}

/** Largest number of layers that llama.cpp accepts. */
const MAX_LAYERS = 512;

/** Tensors whose size is determined by a dimension. */
const ATTENTION = /\.attn_(?:q|k|v|qkv)\.weight$/;
const FEED_FORWARD = /\.ffn_(?:up|gate|down)\.weight$/;

/**
 * Checks that the dimensions exist which the tensors of a model need.
 *
 * @throws {InvalidFileError} If one is missing or impossible.
 */
export function checkDimensions(header: Dimensions): void {
  const prefix = `${header.metadata.get("general.architecture")}.`;
  const check = (name: string, maximum?: number) => checkCount(header, prefix + name, maximum);
  check("block_count", MAX_LAYERS);
  check("embedding_length");
  const names = [...header.tensorNames];
  if (names.some((name) => FEED_FORWARD.test(name))) check("feed_forward_length");
  if (!names.some((name) => ATTENTION.test(name))) return;
  const hasKeyLength = header.metadata.has(`${prefix}attention.key_length`);
  const embedding = Number(header.metadata.get(`${prefix}embedding_length`));
  check("attention.head_count", hasKeyLength ? undefined : embedding);
  for (const name of ["head_count_kv", "key_length", "value_length"]) {
    const key = `attention.${name}`;
    if (header.metadata.has(prefix + key)) check(key);
  }
}

/** Checks a number, or a list with one for each layer, of which some may be zero. */
function checkCount({ metadata, lists }: Dimensions, key: string, maximum = Infinity): void {
  const value = metadata.get(key);
  const largest = Math.max(...lists.get(key) ?? [typeof value === "number" ? value : 0]);
  if (largest >= 1 && largest <= maximum) return;
  throw new InvalidFileError(`its ${key} is ${value ?? "missing"}`);
}
