/**
 * Reservation of rate limit capacity for one request.
 *
 * @module
 */

import { AgentError } from "../../../src/core/errors/errors.ts";
import type { Usage } from "../../../src/core/models/usage.ts";
import type { BlockWriter } from "../../../src/core/streams/block_writer.ts";
import type { LlmContext, StreamRequest } from "../../../src/core/streams/stream.ts";
import {
  estimateTextTokens,
  estimateTokens,
  estimateToolTokens,
} from "../../../src/core/streams/tokens.ts";
import type { RequestLimiter } from "../options/adapter_options.ts";
import { notifyLimiter } from "./notify_limiter.ts";

/** Shorter waits are not reported, in milliseconds. */
const MIN_REPORTED_WAIT_MS = 1000;

/** Reserves the estimated tokens of a request and replaces the estimate with the actual usage. */
export class LimitReservation {
  readonly #limiter: RequestLimiter | undefined;
  readonly #request: StreamRequest;
  #reserved: number | null = null;

  /** Creates a reservation of no tokens. Without a limiter, every method does nothing. */
  constructor(limiter: RequestLimiter | undefined, request: StreamRequest) {
    this.#limiter = limiter;
    this.#request = request;
  }

  /**
   * Waits until the request may be sent and reserves its estimated tokens. A long wait is reported as a warning. Rejects
   * when the signal aborts, or when the wait is longer than the caller's retries.
   */
  async reserve(writer: BlockWriter, signal: AbortSignal): Promise<void> {
    if (!this.#limiter) return;
    const { context, maxWaitMs } = this.#request;
    const tokens = estimateRequestTokens(context);
    let isReported = false;
    await this.#limiter.acquire(tokens, signal, {
      maxPauseMs: maxWaitMs,
      onWait: (delayMs) => {
        if (isReported || delayMs < MIN_REPORTED_WAIT_MS) return;
        isReported = true;
        const message = `Waiting ${Math.ceil(delayMs / 1000)} s for the rate limit`;
        writer.warning("rate_limit_wait", message, { delayMs });
      },
    });
    this.#reserved = tokens;
  }

  /** Replaces the estimate with the usage of the reply, if known. */
  settle(usage: Usage | undefined): void {
    // Anthropic's limits exclude cache reads; providers that include them report the remaining limit in headers.
    if (usage) this.#settle(usage.input + usage.cacheWrite + usage.output);
  }

  /** Handles the error of a request. A rejected request used no tokens and may pause the limiter. */
  release(error: unknown): void {
    if (!AgentError.is(error)) return;
    if (error.status !== undefined) this.#settle(0);
    if (error.code === "model_throttled" && error.retryable && error.retryAfterMs !== undefined) {
      const delayMs = Math.min(error.retryAfterMs, this.#request.maxWaitMs ?? Infinity);
      void notifyLimiter(() => this.#limiter?.pause?.(delayMs));
    }
  }

  #settle(used: number): void {
    const reserved = this.#reserved;
    this.#reserved = null;
    if (reserved !== null) void notifyLimiter(() => this.#limiter?.settle?.(reserved, used));
  }
}

function estimateRequestTokens({ systemPrompt, messages, tools }: LlmContext): number {
  let tokens = estimateTextTokens(systemPrompt) + estimateToolTokens(tools);
  for (const message of messages) tokens += estimateTokens(message);
  return tokens;
}
