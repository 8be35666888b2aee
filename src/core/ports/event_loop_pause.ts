/**
 * Pauses of a computation that never waits for anything else, in which timers fire.
 *
 * @module
 */

/** Time for which such a computation may block the event loop, in milliseconds. */
const MAX_BLOCKING_MS = 8;

/**
 * Yields to the event loop every few milliseconds. Most computations pause by themselves, so that a zero-delay timer
 * fires; one waits only if that timer is still pending at the next check.
 */
export class EventLoopPause {
  #lastPauseAt: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause: Promise<void> | undefined;
  #resume: (() => void) | undefined;

  /** Checks the clock; returns a promise if the computation must wait. */
  check(): Promise<void> | undefined {
    const now = performance.now();
    this.#lastPauseAt ??= now;
    if (now - this.#lastPauseAt < MAX_BLOCKING_MS) return undefined;
    if (this.#timer !== undefined) {
      return this.#pause ??= new Promise((resolve) => this.#resume = resolve);
    }
    this.#timer = setTimeout(() => this.end());
    return undefined;
  }

  /** Ends a pause that is not over. */
  end(): void {
    if (this.#timer === undefined) return; // The first use of a timer is slow on Deno.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastPauseAt = performance.now();
    this.#resume?.();
    this.#pause = undefined;
  }
}
