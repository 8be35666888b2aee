/**
 * Chance, as random tests speak of it.
 *
 * @module
 */

import { seededRandom } from "../../src/testing/seeded_random.ts";

/** A source of chance that is the same for the same seed. */
export class RandomSource {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** A whole number below `limit`. */
  integer(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** Whether something happens that happens with this probability. */
  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  /** One of several. */
  oneOf<Value>(values: readonly Value[]): Value {
    const chosen = values[this.integer(values.length)];
    if (chosen === undefined) throw new Error("There is nothing to choose from");
    return chosen;
  }

  /** One of several things to make. */
  create<Value>(makers: readonly (() => Value)[]): Value {
    return this.oneOf(makers)();
  }

  /** Up to `most` things, at least `least`. */
  array<Value>(least: number, most: number, make: () => Value): Value[] {
    return Array.from({ length: least + this.integer(most - least + 1) }, make);
  }
}
