/**
 * The time between two attempts to write a summary.
 *
 * @module
 */

/** Time after the first failure, in milliseconds; it doubles with each further one. */
const BASE_DELAY_MS = 30_000;
/** Maximum time between two attempts, in milliseconds. */
const MAX_DELAY_MS = 600_000;

/** Delays the next attempt after failures, so that not every request of an agent pays for one. */
export class SummaryBackoff {
  readonly #now: () => number;
  #failures = 0;
  #until = -Infinity;

  /** `now` returns the time in milliseconds since the epoch. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Whether the next attempt must wait. */
  get isActive(): boolean {
    return this.#now() < this.#until;
  }

  /** Records the outcome of an attempt. */
  update(succeeded: boolean): void {
    this.#failures = succeeded ? 0 : this.#failures + 1;
    const delay = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (this.#failures - 1));
    this.#until = succeeded ? -Infinity : this.#now() + delay;
  }
}
