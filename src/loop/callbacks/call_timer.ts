/**
 * The time limit of a tool call.
 *
 * @module
 */

import type { Clock } from "../../core/ports/ports.ts";

/** Options for {@linkcode CallTimer}. */
export interface CallTimerOptions {
  readonly clock: Clock;
  /** Time until the end, without pauses, in milliseconds. */
  readonly limitMs: number;
  /** Time of the start, in milliseconds. */
  readonly startedAt: number;
  /** Called when the time is over. */
  readonly onEnd: () => void;
}

/** Measures the time of a tool call, apart from pauses. */
export class CallTimer {
  readonly #options: CallTimerOptions;
  #remainingMs: number;
  #startedAt: number;
  #timer: AbortController | undefined;
  #pauses = 0;
  #isStopped = false;

  /** Starts the time. */
  constructor(options: CallTimerOptions) {
    this.#options = options;
    this.#remainingMs = options.limitMs;
    this.#startedAt = options.startedAt;
    this.#wait();
  }

  /** Pauses the time; returns a function that ends the pause. The time continues when no pause is left. */
  pause(): () => void {
    if (this.#pauses++ === 0 && !this.#isStopped) {
      this.#timer?.abort();
      const elapsedMs = this.#options.clock.now() - this.#startedAt;
      this.#remainingMs = Math.max(0, this.#remainingMs - Math.max(0, elapsedMs));
    }
    let isPaused = true;
    return () => {
      if (!isPaused) return;
      isPaused = false;
      if (--this.#pauses > 0 || this.#isStopped) return;
      this.#startedAt = this.#options.clock.now();
      this.#wait();
    };
  }

  /** Stops the time for good. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.abort();
  }

  #wait(): void {
    const { clock, onEnd } = this.#options;
    const timer = this.#timer = new AbortController();
    void clock.sleep(this.#remainingMs, timer.signal).then(() => {
      if (!timer.signal.aborted) onEnd();
    });
  }
}
