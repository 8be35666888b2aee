/**
 * Rate limiter for the requests of several agents.
 *
 * @module
 */

import { checkNames } from "../../../src/core/checks/check_names.ts";
import { BadRequestError, ModelThrottledError } from "../../../src/core/errors/errors.ts";
import { abortable } from "../../../src/core/ports/abortable.ts";
import { type Clock, resolvePorts, systemClock } from "../../../src/core/ports/ports.ts";
import type { AcquireOptions, RequestLimiter } from "../options/adapter_options.ts";
import { ProviderLimiter } from "./provider_limiter.ts";
import { readLimits } from "./rate_headers.ts";
import { TokenBucket } from "./token_bucket.ts";

/** Options for `new RateLimiter()`. */
export interface RateLimiterOptions {
  /** Requests per minute. Default: the limit in the provider's response headers, else no limit. */
  readonly requestsPerMinute?: number | undefined;
  /**
   * Input and output tokens per minute, without cache reads; estimated before a request and corrected after it. Default:
   * the limit in the provider's response headers, else no limit.
   */
  readonly tokensPerMinute?: number | undefined;
  /**
   * Maximum pause that a provider may cause with a retry delay or an exhausted limit, in milliseconds; longer ones are
   * shortened. Default: 60,000.
   */
  readonly maxPauseMs?: number | undefined;
  /** Clock for tests. Default: the clock of the runtime. */
  readonly clock?: Clock | undefined;
}

const OPTION_NAMES = ["requestsPerMinute", "tokensPerMinute", "maxPauseMs", "clock"];

/**
 * Delays requests to stay within the rate limit of a provider.
 *
 * Pass the same limiter to the adapters of all agents that share a limit. Limits in response headers are applied as
 * well: the remaining amount and the time of the reset. A retry delay after a rejected request pauses all requests, up
 * to `maxPauseMs` and to the maximum delay of the retry strategy. A request whose own strategy allows a shorter delay
 * than the rest of the pause fails at once with `model_throttled`. An adapter reports each wait of a second or more as a
 * `warning` event with the code `rate_limit_wait`. As the limiter of `connect()` it applies its own limits to the requests to
 * all providers together, and what a provider reports only to the requests to that provider.
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
  readonly #options: RateLimiterOptions;
  readonly #providers = new Map<string, ProviderLimiter>();
  readonly #clock: Clock;
  readonly #requests: TokenBucket;
  readonly #tokens: TokenBucket;
  readonly #maxPauseMs: number;
  #lastAcquired: Promise<void> = Promise.resolve();
  #wakeNext = (): void => {};

  /**
   * Creates a limiter with all of its capacity available.
   *
   * @throws {BadRequestError} When a limit is not a number above 0, the pause is negative, or an option is unknown.
   */
  constructor(options: RateLimiterOptions = {}) {
    checkNames(options, OPTION_NAMES, "RateLimiter");
    this.#options = { ...options };
    this.#clock = options.clock ? resolvePorts(options.clock) : systemClock;
    const now = this.#clock.now();
    this.#requests = new TokenBucket(resolveLimit(options, "requestsPerMinute"), now);
    this.#tokens = new TokenBucket(resolveLimit(options, "tokensPerMinute"), now);
    this.#maxPauseMs = resolveMaxPause(options);
  }

  /**
   * Waits until a request of about `tokens` tokens may be sent, in the order of the calls. Rejects with the signal's
   * reason when the signal aborts.
   *
   * @throws {ModelThrottledError} When a pause of the provider is longer than `maxPauseMs` of these options.
   */
  async acquire(tokens: number, signal: AbortSignal, options: AcquireOptions = {}): Promise<void> {
    this.#assertShortPause(options);
    const acquired = this.#lastAcquired.then(() => this.#waitForCapacity(tokens, signal, options));
    this.#lastAcquired = acquired.catch(() => {});
    await abortable(acquired, signal);
  }

  /** Applies the limits in the headers of a response. */
  observe(headers: Headers): void {
    const now = this.#clock.now();
    const { requests, tokens } = readLimits(headers, now);
    const reports = [[this.#requests, requests], [this.#tokens, tokens]] as const;
    for (const [bucket, { limit, remaining, resetMs }] of reports) {
      if (limit !== undefined) bucket.updateRate(limit);
      if (remaining !== undefined) {
        const pauseMs = resetMs && Math.min(resetMs, this.#maxPauseMs);
        bucket.updateRemaining(remaining, pauseMs, now);
      }
    }
  }

  /** Replaces an estimate with the actual usage, which may shorten the current wait. */
  settle(acquired: number, used: number): void {
    this.#tokens.correct(acquired, used);
    this.#wakeNext();
  }

  /** Delays all requests by `delayMs` milliseconds, the retry delay of a rejected request, up to `maxPauseMs`. */
  pause(delayMs: number): void {
    this.#requests.pauseUntil(this.#clock.now() + Math.min(delayMs, this.#maxPauseMs));
  }

  /** Returns the limiter for the requests to one provider, which also applies the limits of this one. */
  forProvider(name: string): RequestLimiter {
    const known = this.#providers.get(name);
    if (known) return known;
    const limiter = new ProviderLimiter(this, new RateLimiter(this.#options));
    this.#providers.set(name, limiter);
    return limiter;
  }

  /** Rejects a request that would wait longer for the provider than its caller does. */
  #assertShortPause({ maxPauseMs = Infinity }: AcquireOptions): void {
    const now = this.#clock.now();
    const retryAfterMs = Math.max(this.#requests.getPause(now), this.#tokens.getPause(now));
    if (retryAfterMs <= maxPauseMs) return;
    const message = `The provider's rate limit pauses requests for another ${retryAfterMs} ms`;
    throw new ModelThrottledError(message, { retryAfterMs });
  }

  async #waitForCapacity(
    tokens: number,
    signal: AbortSignal,
    options: AcquireOptions,
  ): Promise<void> {
    for (let delayMs; !signal.aborted && (delayMs = this.#getDelay(tokens)) > 0;) {
      this.#assertShortPause(options);
      options.onWait?.(delayMs);
      await this.#sleep(delayMs, signal);
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
    const wake = new AbortController();
    this.#wakeNext = () => wake.abort();
    return this.#clock.sleep(delayMs, AbortSignal.any([signal, wake.signal]));
  }
}

function resolveLimit(
  options: RateLimiterOptions,
  name: "requestsPerMinute" | "tokensPerMinute",
): number {
  const { [name]: limit = Infinity } = options;
  if (typeof limit === "number" && limit > 0) return limit;
  throw new BadRequestError(`${name} must be a number above 0, not ${String(limit)}`);
}

function resolveMaxPause({ maxPauseMs = 60_000 }: RateLimiterOptions): number {
  if (typeof maxPauseMs === "number" && maxPauseMs >= 0) return maxPauseMs;
  throw new BadRequestError(`maxPauseMs must be a number from 0, not ${String(maxPauseMs)}`);
}
