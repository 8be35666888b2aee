/**
 * Chance that can be repeated.
 *
 * @module
 */

/**
 * Makes a source of numbers in [0, 1) that is the same for the same seed (mulberry32); fit for an agent's
 * `random` port and for random tests, not for secrets.
 *
 * @example
 * ```ts
 * import { seededRandom } from "@swink/agent/testing";
 *
 * seededRandom(1)() === seededRandom(1)(); // true
 * ```
 */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
