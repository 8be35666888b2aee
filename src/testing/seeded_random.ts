/**
 * Random numbers from a seed.
 *
 * @module
 */

import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";

/**
 * Creates a generator of numbers in [0, 1) that repeats for the same seed (mulberry32).
 *
 * Suits the `random` port of an agent and randomized tests, but not secrets.
 *
 * @example
 * ```ts
 * import { seededRandom } from "@swink/agent/testing";
 *
 * seededRandom(1)() === seededRandom(1)(); // true
 * ```
 */
export function seededRandom(seed: number): () => number {
  if (typeof seed !== "number") {
    throw new BadRequestError(`The seed must be a number, not ${describeValue(seed)}`);
  }
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
