/**
 * A cache with a bound, by text.
 *
 * @module
 */

/** Number of values that are kept. */
const MAX_ENTRIES = 500;

/** Keeps the values that were used last, by a text. */
export class TextCache<Value> {
  readonly #entries = new Map<string, Value>();

  /** Returns the value of a text, and marks it as used. */
  get(text: string): Value | undefined {
    const value = this.#entries.get(text);
    if (value !== undefined) this.#store(text, value);
    return value;
  }

  /** Adds a value; removes the one that was not used for the longest time. */
  set(text: string, value: Value): void {
    this.#store(text, value);
    if (this.#entries.size <= MAX_ENTRIES) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  #store(text: string, value: Value): void {
    this.#entries.delete(text);
    this.#entries.set(text, value);
  }
}
