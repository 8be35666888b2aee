/**
 * A queue whose operations take constant time.
 *
 * @module
 */

/** Values that are taken in the order in which they were added. `shift()` of a long array moves all of its items. */
export class Fifo<Value> {
  #values: (Value | undefined)[] = [];
  #head = 0;

  /** Number of values. */
  get size(): number {
    return this.#values.length - this.#head;
  }

  /** Adds a value at the end. */
  push(value: Value): void {
    this.#values.push(value);
  }

  /** Removes and returns the first value; `undefined` if there is none. */
  take(): Value | undefined {
    if (this.size === 0) return undefined;
    const value = this.#values[this.#head];
    this.#values[this.#head++] = undefined;
    // Each trimming moves at most as many values as were taken since the one before.
    if (this.#head * 2 >= this.#values.length) {
      this.#values = this.#values.slice(this.#head);
      this.#head = 0;
    }
    return value;
  }

  /** Moves the values of another queue before those of this one. */
  prependAll(other: Fifo<Value>): void {
    this.#values = [...other.#values.slice(other.#head), ...this.#values.slice(this.#head)];
    this.#head = 0;
    other.#values = [];
    other.#head = 0;
  }
}
