/**
 * Pauses of a computation that never waits for anything else, in which timers fire.
 *
 * @module
 */

/** Time for which such a computation may block the event loop, in milliseconds. */
const MAX_BLOCKING_MS = 8;

/** Yields to the event loop every few milliseconds. */
export class EventLoopPause {
  #lastPauseAt: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause: Promise<void> | undefined;
  #resume: (() => void) | undefined;

  /**
   * Checks the clock, for a computation that may pause by itself: returns a promise, for which it must wait, only if it
   * has not done so since a pause was due.
   */
  check(): Promise<void> | undefined {
    if (!this.#isDue()) return undefined;
    if (this.#timer !== undefined) return this.#wait();
    this.#startTimer();
    return undefined;
  }

  /** Waits if a pause is due. */
  async wait(): Promise<void> {
    if (!this.#isDue()) return;
    if (this.#timer === undefined) this.#startTimer();
    await this.#wait();
  }

  /** Ends a pause that is not over; the next one is due some milliseconds later. */
  end(): void {
    // The first use of a timer is slow on Deno.
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastPauseAt = performance.now();
    this.#resume?.();
    this.#pause = undefined;
  }

  #isDue(): boolean {
    const now = performance.now();
    this.#lastPauseAt ??= now;
    return now - this.#lastPauseAt >= MAX_BLOCKING_MS;
  }

  #startTimer(): void {
    this.#timer = setTimeout(() => this.end());
  }

  #wait(): Promise<void> {
    return this.#pause ??= new Promise((resolve) => this.#resume = resolve);
  }
}
