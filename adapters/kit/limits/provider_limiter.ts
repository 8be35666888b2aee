/**
 * Rate limiter for the requests to one of several providers.
 *
 * @module
 */

import type { AcquireOptions, RequestLimiter } from "../options/adapter_options.ts";

/**
 * Applies the limits of a program to its requests to all providers, and the limits and pauses of one provider only to the
 * requests to that provider, so that they do not delay a fallback to another one.
 */
export class ProviderLimiter implements RequestLimiter {
  readonly #all: RequestLimiter;
  readonly #own: RequestLimiter;

  /** Creates a limiter from that of all providers and that of the provider. */
  constructor(all: RequestLimiter, own: RequestLimiter) {
    this.#all = all;
    this.#own = own;
  }

  /** Waits until both limiters permit a request of about `tokens` tokens. Rejects when the signal aborts. */
  async acquire(tokens: number, signal: AbortSignal, options?: AcquireOptions): Promise<void> {
    await this.#own.acquire(tokens, signal, options);
    await this.#all.acquire(tokens, signal, options);
  }

  /** Applies the limits in the headers of a response of the provider. */
  observe(headers: Headers): void {
    this.#own.observe(headers);
  }

  /** Replaces an estimate with the tokens actually used. */
  settle(acquired: number, used: number): void {
    this.#own.settle?.(acquired, used);
    this.#all.settle?.(acquired, used);
  }

  /** Delays the requests to the provider. */
  pause(delayMs: number): void {
    this.#own.pause?.(delayMs);
  }
}
