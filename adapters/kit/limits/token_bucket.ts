/**
 * So much a minute, evenly.
 *
 * @module
 */

const MINUTE_MS = 60_000;

/** A bucket that fills up within a minute. What is taken beyond its content has to be waited for. */
export class TokenBucket {
  #perMinute: number;
  readonly #isGiven: boolean;
  #content: number;
  #filledAt: number;
  #closedUntil = 0;

  /** Makes a full bucket; `Infinity` never runs dry. */
  constructor(perMinute: number, now: number) {
    this.#perMinute = perMinute;
    this.#isGiven = perMinute !== Infinity;
    this.#content = perMinute;
    this.#filledAt = now;
  }

  /** How long to wait until so much is there, in milliseconds; more than fits in counts as all of it. */
  waitFor(amount: number, now: number): number {
    if (this.#perMinute === Infinity) return Math.max(0, this.#closedUntil - now);
    this.#fill(now);
    const missing = Math.min(amount, this.#perMinute) - this.#content;
    const fillMs = Math.max(0, missing) / this.#perMinute * MINUTE_MS;
    return Math.ceil(Math.max(fillMs, this.#closedUntil - now, 0));
  }

  /** Takes so much; the content may fall below nothing. */
  take(amount: number, now: number): void {
    this.#fill(now);
    this.#content -= amount;
  }

  /** What was taken has turned out to be more, or less. */
  correct(taken: number, used: number): void {
    this.#content = Math.min(this.#perMinute, this.#content + taken - used);
  }

  /** Somebody else has told the rate; a rate that was given stays. */
  learnRate(perMinute: number): void {
    if (this.#isGiven || perMinute <= 0) return;
    this.#perMinute = perMinute;
    this.#content = Math.min(this.#content, perMinute);
  }

  /** Somebody else has told what is left, and when it is full again. */
  learnRest(rest: number, resetMs: number | undefined, now: number): void {
    this.#fill(now);
    this.#content = Math.min(this.#content, rest);
    if (rest <= 0 && resetMs !== undefined) this.#closedUntil = now + resetMs;
  }

  /** Gives nothing until then. */
  closeUntil(time: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, time);
  }

  #fill(now: number): void {
    const filled = (now - this.#filledAt) / MINUTE_MS * this.#perMinute;
    if (this.#perMinute !== Infinity) {
      this.#content = Math.min(this.#perMinute, this.#content + filled);
    }
    this.#filledAt = now;
  }
}
