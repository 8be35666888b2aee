/**
 * So much a minute, evenly.
 *
 * @module
 */

const MINUTE_MS = 60_000;

/** A bucket that fills up within a minute. What is taken beyond its content has to be waited for. */
export class TokenBucket {
  #perMinute: number;
  readonly #isFixed: boolean;
  #available: number;
  #refilledAt: number;
  #pausedUntil = 0;

  /** Makes a full bucket; `Infinity` never runs dry. */
  constructor(perMinute: number, now: number) {
    this.#perMinute = perMinute;
    this.#isFixed = perMinute !== Infinity;
    this.#available = perMinute;
    this.#refilledAt = now;
  }

  /** How long to wait until so much is there, in milliseconds; more than fits in counts as all of it. */
  getDelay(amount: number, now: number): number {
    if (this.#perMinute === Infinity) return Math.max(0, this.#pausedUntil - now);
    this.#refill(now);
    const missing = Math.min(amount, this.#perMinute) - this.#available;
    const fillMs = Math.max(0, missing) / this.#perMinute * MINUTE_MS;
    return Math.ceil(Math.max(fillMs, this.#pausedUntil - now, 0));
  }

  /** Takes so much; the content may fall below nothing. */
  consume(amount: number, now: number): void {
    this.#refill(now);
    this.#available -= amount;
  }

  /** What was taken has turned out to be more, or less. */
  correct(taken: number, used: number): void {
    this.#available = Math.min(this.#perMinute, this.#available + taken - used);
  }

  /** Somebody else has told the rate; a rate that was given stays. */
  updateRate(perMinute: number): void {
    if (this.#isFixed || perMinute <= 0) return;
    this.#perMinute = perMinute;
    this.#available = Math.min(this.#available, perMinute);
  }

  /** Somebody else has told what is left, and when it is full again. */
  updateRemaining(rest: number, resetMs: number | undefined, now: number): void {
    this.#refill(now);
    this.#available = Math.min(this.#available, rest);
    if (rest <= 0 && resetMs !== undefined) this.#pausedUntil = now + resetMs;
  }

  /** Gives nothing until then. */
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
