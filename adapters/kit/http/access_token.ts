/**
 * Tokens that expire, and are asked for anew.
 *
 * @module
 */

import { AgentError, AuthError, messageOf } from "../../../src/core/errors.ts";
import type { Clock } from "../options/clock.ts";

/** A token, and until when it is good. */
export interface AccessToken {
  /** The token. */
  readonly token: string;
  /** When it expires, in milliseconds since the epoch. Default: unknown, and it is asked for at every request. */
  readonly expiresOnTimestamp?: number | undefined;
}

/**
 * Gives a token, such as `credential.getToken(scope)` of an identity library, or a function that gives the text alone
 * and keeps it by itself.
 */
export type GetToken = () =>
  | string
  | AccessToken
  | null
  | Promise<string | AccessToken | null>;

/** A token is asked for anew before it expires: by a tenth of its life, but no more than five minutes. */
const EARLY_SHARE = 0.1;
const EARLY_MS = 5 * 60_000;

/** Keeps a token while it is good; callers that come while one is asked for get that one. */
export class AccessTokens {
  readonly #getToken: GetToken;
  readonly #clock: Clock;
  #kept: { readonly token: string; readonly goodUntil: number } | null = null;
  #asking: Promise<string> | null = null;

  /** Makes a keeper that has no token yet. */
  constructor(getToken: GetToken, clock: Clock) {
    this.#getToken = getToken;
    this.#clock = clock;
  }

  /**
   * Gives a token that is good now.
   *
   * @throws {AuthError} When none can be had.
   */
  get(): Promise<string> {
    const kept = this.#kept;
    if (kept !== null && this.#clock.now() < kept.goodUntil) return Promise.resolve(kept.token);
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  /** A `fetch` after whose refusals the token is not used again. */
  watching(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (...request) => {
      const response = await fetch(...request);
      if (response.status === 401) this.#kept = null;
      return response;
    };
  }

  async #ask(): Promise<string> {
    const given = await this.#given();
    const { token, expiresOnTimestamp } = typeof given === "string" ? { token: given } : given;
    const now = this.#clock.now();
    const lifeMs = (expiresOnTimestamp ?? now) - now;
    const goodUntil = now + lifeMs - Math.min(lifeMs * EARLY_SHARE, EARLY_MS);
    this.#kept = { token, goodUntil };
    return token;
  }

  async #given(): Promise<string | AccessToken> {
    try {
      const given = await this.#getToken();
      if (given) return given;
    } catch (cause) {
      if (AgentError.is(cause)) throw cause;
      throw new AuthError(`getToken failed: ${messageOf(cause)}`, { cause });
    }
    throw new AuthError("getToken gave no token");
  }
}
