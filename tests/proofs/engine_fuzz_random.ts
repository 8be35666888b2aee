/**
 * Random choices for fuzz tests.
 *
 * @module
 */

import { seededRandom } from "../../src/testing/seeded_random.ts";

/** Makes the same random choices for the same seed. */
export class RandomSource {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** Returns an integer from 0 up to `limit`, exclusive. */
  integer(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** Returns `true` with a probability. */
  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  /** Returns one of the values, of which there must be one. */
  oneOf<Value>(values: readonly Value[]): Value {
    return values[this.integer(values.length)] as Value;
  }

  /** Calls one of the factories. */
  create<Value>(factories: readonly (() => Value)[]): Value {
    return this.oneOf(factories)();
  }

  /** Returns an array of `minimum` to `maximum` values. */
  array<Value>(minimum: number, maximum: number, create: () => Value): Value[] {
    return Array.from({ length: minimum + this.integer(maximum - minimum + 1) }, create);
  }
}
