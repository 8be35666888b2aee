/**
 * Pauses of a computation that never waits for anything else, in which timers fire.
 *
 * @module
 */

/** Time after which a pause is due, in milliseconds. */
const MAX_BLOCKING_MS = 8;

/** Yields to the event loop every few milliseconds. */
export class EventLoopPause {
  #lastPauseAt = performance.now();
  #pause: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #resume: (() => void) | undefined;

  /** Resolves after a timer has fired, or at once if no pause is due. */
  wait(): Promise<void> {
    if (this.#pause) return this.#pause;
    if (performance.now() - this.#lastPauseAt < MAX_BLOCKING_MS) return Promise.resolve();
    return this.#pause = new Promise((resolve) => {
      this.#resume = resolve;
      this.#timer = setTimeout(() => this.end());
    });
  }

  /** Ends a pause that is not over. */
  end(): void {
    clearTimeout(this.#timer);
    this.#lastPauseAt = performance.now();
    this.#pause = undefined;
    this.#resume?.();
  }
}
