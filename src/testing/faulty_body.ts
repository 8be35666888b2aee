/**
 * Response bodies that arrive in chunks of any size, break, hang or are corrupted.
 *
 * @module
 */

import { seededRandom } from "./seeded_random.ts";

/** Sizes of the chunks in bytes: all of one size, or random from 1 to a maximum. */
export type ChunkSizes = number | { readonly seed: number; readonly max: number };

/** Options for `createFaultyBody()`. */
export interface FaultyBodyOptions {
  /** Sizes of the chunks. Default: one chunk. */
  readonly chunkSizes?: ChunkSizes | undefined;
  /** Number of bytes to send. Default: all. */
  readonly byteLimit?: number | undefined;
  /** Whether the body then ends, hangs, or fails as a reset connection does. Default: `"end"`. */
  readonly ending?: "end" | "hang" | "break" | undefined;
  /** Called when the reader waits for more bytes of a body that hangs. Default: nothing. */
  readonly onHang?: (() => void) | undefined;
}

/** A body and statistics about its reader. */
export interface FaultyBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** The number of chunks read, and whether the reader cancelled the body. */
  readonly stats: { taken: number; cancelled: boolean };
}

/** Creates a body that sends a chunk only when it is pulled. */
export function createFaultyBody(
  bytes: Uint8Array,
  { chunkSizes = Infinity, byteLimit = bytes.length, ending = "end", onHang }: FaultyBodyOptions =
    {},
): FaultyBody {
  const stats = { taken: 0, cancelled: false };
  const nextSize = createSizeGenerator(chunkSizes);
  let offset = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller): void | Promise<void> {
      if (offset >= byteLimit) {
        if (ending === "hang") {
          onHang?.();
          return new Promise(() => {});
        }
        return ending === "end"
          ? controller.close()
          : controller.error(new TypeError("connection reset"));
      }
      const end = Math.min(byteLimit, offset + nextSize());
      // A copy, because the reader may keep or transfer the chunk.
      controller.enqueue(bytes.slice(offset, end));
      offset = end;
      stats.taken++;
    },
    cancel: () => {
      stats.cancelled = true;
    },
  }, { highWaterMark: 0 });
  return { stream, stats };
}

function createSizeGenerator(sizes: ChunkSizes): () => number {
  if (typeof sizes === "number") return () => sizes;
  const random = seededRandom(sizes.seed);
  return () => 1 + Math.floor(random() * sizes.max);
}

/** JSON values that replace valid ones. */
const INVALID_VALUES = ["5", "null", "[]", "{}", '""', "true", '"\\ud800"', "-1"];

/** Copies a body and changes, removes or repeats bytes, or replaces a JSON value. */
export function corruptBytes(bytes: Uint8Array, random: () => number): Uint8Array {
  const start = Math.floor(random() * bytes.length);
  const length = 1 + Math.floor(random() * 8);
  const concat = (...parts: Uint8Array[]) => new Uint8Array(parts.flatMap((part) => [...part]));
  switch (Math.floor(random() * 4)) {
    case 0:
      return bytes.map((byte, index) => index === start ? Math.floor(random() * 256) : byte);
    case 1:
      return concat(bytes.subarray(0, start), bytes.subarray(start + length));
    case 2:
      return concat(bytes.subarray(0, start + length), bytes.subarray(start));
    default:
      return replaceJsonValue(bytes, random);
  }
}

function replaceJsonValue(bytes: Uint8Array, random: () => number): Uint8Array {
  const text = new TextDecoder().decode(bytes);
  const values = [...text.matchAll(/(?<=":\s?)(?:"[^"\\]*"|\d+|null|true|false)/g)];
  const value = values[Math.floor(random() * values.length)];
  if (!value) return bytes;
  const replacement = INVALID_VALUES[Math.floor(random() * INVALID_VALUES.length)] ?? "null";
  const end = value.index + value[0].length;
  return new TextEncoder().encode(text.slice(0, value.index) + replacement + text.slice(end));
}
