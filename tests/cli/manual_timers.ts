/**
 * A clock with timers that tests advance.
 *
 * @module
 */

import type { StartTimer } from "../../cli/host/timer.ts";

/** A clock that starts at 0. */
export class ManualTimers {
  #time = 0;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  /** Returns the current time in milliseconds. */
  readonly now = (): number => this.#time;

  /** Starts a timer of this clock. */
  readonly startTimer: StartTimer = (callback, delayMs) => {
    const timer = { at: this.#time + delayMs, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  /** Number of timers that have not ended. */
  get active(): number {
    return this.#timers.length;
  }

  /** Advances the time and calls the callbacks of the timers that end, in their order. */
  advance(durationMs: number): void {
    const end = this.#time + durationMs;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#time = Math.max(next.at, this.#time);
      next.callback();
    }
    this.#time = end;
  }
}
