/**
 * Response bodies that arrive in any pieces, break off, or never end.
 *
 * @module
 */

import { seededRandom } from "./seeded_random.ts";

/** Sizes of the pieces: all of one size, or random up to a size. */
export type ChunkSizes = number | { readonly seed: number; readonly max: number };

/** How a body behaves. */
export interface FaultyBodyOptions {
  /** Sizes of the pieces. Default: one piece. */
  readonly chunkSizes?: ChunkSizes;
  /** How many bytes come. Default: all. */
  readonly byteLimit?: number;
  /** What happens then. Default: `"end"`. */
  readonly ending?: "end" | "hang" | "break";
}

/** A body, and what its reader did with it. */
export interface FaultyBody {
  /** The body. */
  readonly stream: ReadableStream<Uint8Array>;
  /** How many pieces were taken, and whether the reader closed the connection. */
  readonly stats: { taken: number; cancelled: boolean };
}

/** Makes a body that gives a piece each time one is asked for, no earlier. */
export function createFaultyBody(
  bytes: Uint8Array,
  { chunkSizes: pieces = Infinity, byteLimit: upTo = bytes.length, ending: then = "end" }:
    FaultyBodyOptions = {},
): FaultyBody {
  const fate = { taken: 0, cancelled: false };
  const nextSize = createSizeGenerator(pieces);
  let offset = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller): void | Promise<void> {
      if (offset >= upTo) {
        if (then === "hang") return new Promise(() => {});
        return then === "end"
          ? controller.close()
          : controller.error(new TypeError("connection reset"));
      }
      const end = Math.min(upTo, offset + nextSize());
      // A copy, as a reader may keep what it got.
      controller.enqueue(bytes.slice(offset, end));
      offset = end;
      fate.taken++;
    },
    cancel: () => {
      fate.cancelled = true;
    },
  }, { highWaterMark: 0 });
  return { stream, stats: fate };
}

function createSizeGenerator(pieces: ChunkSizes): () => number {
  if (typeof pieces === "number") return () => pieces;
  const random = seededRandom(pieces.seed);
  return () => 1 + Math.floor(random() * pieces.max);
}

/** Values that stand where others were due. */
const INVALID_VALUES = ["5", "null", "[]", "{}", '""', "true", '"\\ud800"', "-1"];

/** A copy of a body with something wrong: bytes changed, lost or doubled, or one JSON value in place of another. */
export function corruptBytes(bytes: Uint8Array, random: () => number): Uint8Array {
  const at = Math.floor(random() * bytes.length);
  const length = 1 + Math.floor(random() * 8);
  const joined = (...parts: Uint8Array[]) => new Uint8Array(parts.flatMap((part) => [...part]));
  switch (Math.floor(random() * 4)) {
    case 0:
      return bytes.map((byte, index) => index === at ? Math.floor(random() * 256) : byte);
    case 1:
      return joined(bytes.subarray(0, at), bytes.subarray(at + length));
    case 2:
      return joined(bytes.subarray(0, at + length), bytes.subarray(at));
    default:
      return replaceJsonValue(bytes, random);
  }
}

function replaceJsonValue(bytes: Uint8Array, random: () => number): Uint8Array {
  const text = new TextDecoder().decode(bytes);
  const values = [...text.matchAll(/(?<=":\s?)(?:"[^"\\]*"|\d+|null|true|false)/g)];
  const value = values[Math.floor(random() * values.length)];
  if (!value) return bytes;
  const wrong = INVALID_VALUES[Math.floor(random() * INVALID_VALUES.length)] ?? "null";
  const end = value.index + value[0].length;
  return new TextEncoder().encode(text.slice(0, value.index) + wrong + text.slice(end));
}
