/**
 * Notices that nothing has come for too long.
 *
 * @module
 */

import type { Clock } from "../options/clock.ts";

/** Options of {@linkcode IdleTimer}. */
export interface IdleTimerOptions {
  /** Longest wait, in milliseconds. */
  readonly limitMs: number;
  /** Time and timers. */
  readonly clock: Clock;
  /** Called once, when a wait has lasted that long. */
  readonly onIdle: () => void;
}

/**
 * Limits every single wait of many.
 *
 * Setting a timer for each chunk would cost more than reading it. One timer runs instead, and when it rings looks how
 * long the present wait has lasted.
 */
export class IdleTimer {
  readonly #options: IdleTimerOptions;
  #startedAt: number | null = null;
  #cancel: (() => void) | null = null;

  /** Makes a timer that is not running. */
  constructor(options: IdleTimerOptions) {
    this.#options = options;
  }

  /** A wait begins. */
  start(): void {
    const { clock, limitMs } = this.#options;
    this.#startedAt = clock.now();
    if (this.#cancel === null) this.#schedule(limitMs);
  }

  /** The wait is over. */
  stop(): void {
    this.#startedAt = null;
  }

  /** No wait will come any more. */
  dispose(): void {
    this.stop();
    this.#cancel?.();
    this.#cancel = null;
  }

  #schedule(delayMs: number): void {
    this.#cancel = this.#options.clock.after(delayMs, () => this.#onTimer());
  }

  #onTimer(): void {
    this.#cancel = null;
    if (this.#startedAt === null) return;
    const { clock, limitMs, onIdle } = this.#options;
    const leftMs = this.#startedAt + limitMs - clock.now();
    if (leftMs > 0) this.#schedule(leftMs);
    else onIdle();
  }
}
