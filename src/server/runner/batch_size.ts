/**
 * The size of the batches in which a client gets the entries of a log.
 *
 * A client that does not read holds one batch in the memory of the server, so that a batch has few entries if they are
 * large, such as images.
 *
 * @module
 */

/** Length of a batch above which no item is added, in characters. */
export const MAX_BATCH_LENGTH = 500_000;

/** Maximum number of entries. */
const MAX_COUNT = 256;

/** Number of entries in the next batch: twice as many as in the last one, unless that had a large text. */
export class BatchSize {
  #count = 16;

  /** Number of entries to read. */
  get count(): number {
    return this.#count;
  }

  /** Adapts the number to a batch. */
  adapt(count: number, length: number): void {
    this.#count = length > MAX_BATCH_LENGTH
      ? Math.max(1, count)
      : Math.min(MAX_COUNT, 2 * this.#count);
  }
}
