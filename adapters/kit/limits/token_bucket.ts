/**
 * Token bucket algorithm for a limit per minute.
 *
 * @module
 */

const MINUTE_MS = 60_000;

/** A token bucket that refills within a minute. Callers wait for `getDelay()` before they consume. */
export class TokenBucket {
  #perMinute: number;
  readonly #isFixed: boolean;
  #available: number;
  #refilledAt: number;
  /** End of the pause after a rejected request. */
  #pausedUntil = 0;
  /** Time at which an exhausted limit is reset, as last reported. */
  #resetAt = 0;

  /** Creates a full bucket. `Infinity` means no limit. */
  constructor(perMinute: number, now: number) {
    this.#perMinute = perMinute;
    this.#isFixed = perMinute !== Infinity;
    this.#available = perMinute;
    this.#refilledAt = now;
  }

  /** Returns the time until `amount` is available, in milliseconds; at most the time until the bucket is full. */
  getDelay(amount: number, now: number): number {
    if (this.#perMinute === Infinity) return this.getPause(now);
    this.#refill(now);
    const missing = Math.min(amount, this.#perMinute) - this.#available;
    const fillMs = Math.max(0, missing) / this.#perMinute * MINUTE_MS;
    return Math.ceil(Math.max(fillMs, this.getPause(now)));
  }

  /** Returns the rest of a pause, in milliseconds. */
  getPause(now: number): number {
    return Math.max(0, this.#pausedUntil - now, this.#resetAt - now);
  }

  /** Removes `amount`; the available amount may become negative. */
  consume(amount: number, now: number): void {
    this.#refill(now);
    this.#available -= amount;
  }

  /** Replaces an earlier consumed amount with the amount actually used. */
  correct(consumed: number, used: number): void {
    this.#available = Math.min(this.#perMinute, this.#available + consumed - used);
  }

  /** Applies a rate reported by the provider, unless the rate was set in the constructor. */
  updateRate(perMinute: number): void {
    if (this.#isFixed || perMinute <= 0) return;
    this.#perMinute = perMinute;
    this.#available = Math.min(this.#available, perMinute);
  }

  /** Applies the remaining amount reported by the provider, and pauses until the reset when none remains. */
  updateRemaining(remaining: number, resetMs: number | undefined, now: number): void {
    this.#refill(now);
    this.#available = Math.min(this.#available, remaining);
    if (remaining <= 0 && resetMs !== undefined) this.#resetAt = now + resetMs;
  }

  /** Makes callers wait until `time`, in milliseconds since the epoch. */
  pauseUntil(time: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, time);
  }

  #refill(now: number): void {
    const filled = (now - this.#refilledAt) / MINUTE_MS * this.#perMinute;
    if (this.#perMinute !== Infinity) {
      this.#available = Math.min(this.#perMinute, this.#available + filled);
    }
    this.#refilledAt = now;
  }
}
