/**
 * A limit that several agents share.
 *
 * @module
 */

import { BadRequestError } from "../../../src/core/errors.ts";
import { abortable } from "../stream/abortable.ts";
import { type Clock, systemClock } from "../options/clock.ts";
import type { RequestLimiter } from "../options/adapter_options.ts";
import { readLimits } from "./rate_headers.ts";
import { TokenBucket } from "./token_bucket.ts";

/** Options of {@linkcode RateLimiter}. */
export interface RateLimiterOptions {
  /** Most requests in a minute. Default: what the provider's headers tell, else no limit. */
  readonly requestsPerMinute?: number | undefined;
  /**
   * Most tokens in a minute, in and out, without those that come from a cache; estimated before a request, counted after
   * it. Default: what the provider's headers tell, else no limit.
   */
  readonly tokensPerMinute?: number | undefined;
  /** Port: time and timers. Default: the runtime's. */
  readonly clock?: Clock | undefined;
}

/**
 * Makes requests wait for their turn, so that a provider need not refuse them.
 *
 * Hand the same limiter to the adapters of all agents that share a limit. What the provider's headers tell of limits
 * is taken into account as well: what is left, and when it is full again. When one request is refused and told how long
 * to wait, all wait.
 *
 * @example
 * ```ts
 * import { connect, RateLimiter } from "@swink/agent/adapters";
 *
 * const limiter = new RateLimiter({ requestsPerMinute: 50, tokensPerMinute: 40_000 });
 * const streamFn = connect({ limiter });
 * ```
 */
export class RateLimiter implements RequestLimiter {
  readonly #clock: Clock;
  readonly #requests: TokenBucket;
  readonly #tokens: TokenBucket;
  #lastAcquired: Promise<void> = Promise.resolve();
  #wakeNext = (): void => {};

  /**
   * Makes a limiter with nothing used yet.
   *
   * @throws {BadRequestError} When a limit is not a number above 0.
   */
  constructor(options: RateLimiterOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    const now = this.#clock.now();
    this.#requests = new TokenBucket(resolveLimit(options, "requestsPerMinute"), now);
    this.#tokens = new TokenBucket(resolveLimit(options, "tokensPerMinute"), now);
  }

  /**
   * Waits until a request of about so many tokens may be sent; requests go in the order in which they came.
   *
   * Rejects with the signal's reason as soon as that aborts.
   */
  async acquire(tokens: number, signal: AbortSignal): Promise<void> {
    const mine = this.#lastAcquired.then(() => this.#waitForCapacity(tokens, signal));
    // The next one waits for this one, however it ends.
    this.#lastAcquired = mine.catch(() => {});
    await abortable(mine, signal);
  }

  /** Reads what the headers of a response tell of limits. */
  observe(headers: Headers): void {
    const now = this.#clock.now();
    const { requests, tokens } = readLimits(headers, now);
    for (const [bucket, told] of [[this.#requests, requests], [this.#tokens, tokens]] as const) {
      if (told.limit !== undefined) bucket.updateRate(told.limit);
      if (told.remaining !== undefined) bucket.updateRemaining(told.remaining, told.resetMs, now);
    }
  }

  /** Puts an estimate right; whoever waits may have to wait less. */
  settle(acquired: number, used: number): void {
    this.#tokens.correct(acquired, used);
    this.#wakeNext();
  }

  /** Lets nobody go on for so long, in milliseconds: one was refused, and so would all others be. */
  pause(delayMs: number): void {
    this.#requests.pauseUntil(this.#clock.now() + delayMs);
  }

  async #waitForCapacity(tokens: number, signal: AbortSignal): Promise<void> {
    for (let wait; !signal.aborted && (wait = this.#getDelay(tokens)) > 0;) {
      await this.#sleep(wait, signal);
    }
    if (signal.aborted) return;
    const now = this.#clock.now();
    this.#requests.consume(1, now);
    this.#tokens.consume(tokens, now);
  }

  #getDelay(tokens: number): number {
    const now = this.#clock.now();
    return Math.max(this.#requests.getDelay(1, now), this.#tokens.getDelay(tokens, now));
  }

  #sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.#clock.after(delayMs, end);
      this.#wakeNext = end;
      signal.addEventListener("abort", end, { once: true });
    });
  }
}

function resolveLimit(
  options: RateLimiterOptions,
  name: "requestsPerMinute" | "tokensPerMinute",
): number {
  const { [name]: limit = Infinity } = options;
  if (limit > 0) return limit;
  throw new BadRequestError(`${name} must be a number above 0, not ${limit}`);
}
