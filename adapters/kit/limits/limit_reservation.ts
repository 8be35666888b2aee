/**
 * One request's share of a limit: estimated before it is sent, put right when it is over.
 *
 * @module
 */

import { AgentError } from "../../../src/core/errors.ts";
import type { LlmContext } from "../../../src/core/stream.ts";
import {
  estimateTextTokens,
  estimateTokens,
  estimateToolTokens,
} from "../../../src/core/tokens.ts";
import type { Usage } from "../../../src/core/usage.ts";
import type { RequestLimiter } from "../options/adapter_options.ts";

/** What one request takes of a limit, if there is one. */
export class LimitReservation {
  readonly #limiter: RequestLimiter | undefined;
  #reserved: number | null = null;

  /** Makes a share of which nothing is taken yet. */
  constructor(limiter: RequestLimiter | undefined) {
    this.#limiter = limiter;
  }

  /** Waits until a request may be sent, and takes what it is likely to use. */
  async reserve(context: LlmContext, signal: AbortSignal): Promise<void> {
    if (!this.#limiter) return;
    const tokens = estimateRequestTokens(context);
    await this.#limiter.acquire(tokens, signal);
    this.#reserved = tokens;
  }

  /** The reply is over. Without a usage, the estimate stays. */
  settle(usage: Usage | undefined): void {
    // What comes from a cache is not counted by Anthropic; those who count it tell what is left in headers.
    if (usage) this.#settle(usage.input + usage.cacheWrite + usage.output);
  }

  /** The request has failed. One that was refused has used nothing, and may say how long all others would be. */
  release(error: unknown): void {
    if (!AgentError.is(error)) return;
    if (error.status !== undefined) this.#settle(0);
    if (error.code === "model_throttled" && error.retryable && error.retryAfterMs !== undefined) {
      this.#limiter?.pause?.(error.retryAfterMs);
    }
  }

  #settle(used: number): void {
    if (this.#reserved !== null) this.#limiter?.settle?.(this.#reserved, used);
    this.#reserved = null;
  }
}

function estimateRequestTokens({ systemPrompt, messages, tools }: LlmContext): number {
  let tokens = estimateTextTokens(systemPrompt) + estimateToolTokens(tools);
  for (const message of messages) tokens += estimateTokens(message);
  return tokens;
}
