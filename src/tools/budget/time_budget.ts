/**
 * The time limit of work whose amount a model determines: edits, searches, documents.
 *
 * @module
 */

import { AbortedError, BadRequestError } from "../../core/errors/errors.ts";

/** Options for {@linkcode TimeBudget}. */
export interface TimeBudgetOptions {
  /** Name of the work for messages, such as "The edit". */
  readonly work: string;
  /** Ends the work. */
  readonly signal: AbortSignal;
  /** Time limit in milliseconds. Default: 10,000. */
  readonly limitMs?: number;
  /** Current time in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

const DEFAULT_LIMIT_MS = 10_000;

/** Interval at which the work yields to the event loop, so that an abort takes effect. */
const YIELD_INTERVAL_MS = 15;

/** Limits the time of work on the main thread, which must call `check()` or `pause()` often. */
export class TimeBudget {
  readonly #work: string;
  readonly #signal: AbortSignal;
  readonly #limitMs: number;
  readonly #now: () => number;
  readonly #end: number;
  #nextYield: number;

  /** Starts the time. */
  constructor(options: TimeBudgetOptions) {
    const { work, signal, limitMs = DEFAULT_LIMIT_MS, now = () => performance.now() } = options;
    this.#work = work;
    this.#signal = signal;
    this.#limitMs = limitMs;
    this.#now = now;
    this.#end = now() + limitMs;
    this.#nextYield = now() + YIELD_INTERVAL_MS;
  }

  /** Whether the time is used up. */
  get isExceeded(): boolean {
    return this.#now() > this.#end;
  }

  /** The time that is left, in milliseconds; 0 when it is used up. */
  get remainingMs(): number {
    return Math.max(this.#end - this.#now(), 0);
  }

  /** Throws when the time is used up. @throws {BadRequestError} With the name of the work. */
  check(): void {
    if (!this.isExceeded) return;
    throw new BadRequestError(
      `${this.#work} takes longer than ${this.#limitMs / 1_000} s: reduce its size`,
    );
  }

  /**
   * Yields to the event loop, unless that was less than 15 ms ago.
   *
   * @throws {AbortedError} When the work was cancelled.
   */
  async yield(): Promise<void> {
    if (this.#now() >= this.#nextYield) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.#nextYield = this.#now() + YIELD_INTERVAL_MS;
    }
    if (this.#signal.aborted) throw new AbortedError(`${this.#work} was cancelled`);
  }

  /** Yields as `yield()`, and throws when the time is used up, as `check()`. */
  async pause(): Promise<void> {
    await this.yield();
    this.check();
  }
}
