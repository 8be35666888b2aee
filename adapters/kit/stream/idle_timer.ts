/**
 * Timer that limits each read of a stream.
 *
 * @module
 */

import type { Clock } from "../../../src/core/ports/ports.ts";
import { startTimer } from "../../../src/core/ports/start_timer.ts";

/** Options for `new IdleTimer()`. */
export interface IdleTimerOptions {
  /** Maximum wait, in milliseconds. */
  readonly limitMs: number;
  /** Clock that measures the waits. */
  readonly clock: Clock;
  /** Called once, when a wait has reached the limit. */
  readonly onIdle: () => void;
}

/**
 * Limits each of many waits.
 *
 * A timer per chunk would cost more than reading the chunk. Instead one timer runs and, when it fires, checks how long
 * the current wait has lasted.
 */
export class IdleTimer {
  readonly #options: IdleTimerOptions;
  #startedAt: number | null = null;
  #cancelTimer: (() => void) | null = null;

  /** Creates a timer that is not running. */
  constructor(options: IdleTimerOptions) {
    this.#options = options;
  }

  /** Starts a wait. */
  start(): void {
    const { clock, limitMs } = this.#options;
    this.#startedAt = clock.now();
    if (this.#cancelTimer === null) this.#schedule(limitMs);
  }

  /** Ends the wait. */
  stop(): void {
    this.#startedAt = null;
  }

  /** Cancels the timer, which ends the wait. */
  dispose(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer = startTimer(this.#options.clock, delayMs, () => this.#onTimer());
  }

  #onTimer(): void {
    this.#cancelTimer = null;
    if (this.#startedAt === null) return;
    const { clock, limitMs, onIdle } = this.#options;
    const remainingMs = this.#startedAt + limitMs - clock.now();
    if (remainingMs > 0) this.#schedule(remainingMs);
    else onIdle();
  }
}
