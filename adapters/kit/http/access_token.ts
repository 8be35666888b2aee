/**
 * Tokens that expire, and are asked for anew.
 *
 * @module
 */

import { AgentError, AuthError, getErrorMessage } from "../../../src/core/errors.ts";
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
const REFRESH_EARLY_RATIO = 0.1;
const MAX_REFRESH_EARLY_MS = 5 * 60_000;

/** Keeps a token while it is good; callers that come while one is asked for get that one. */
export class AccessTokenCache {
  readonly #getToken: GetToken;
  readonly #clock: Clock;
  #cached: { readonly token: string; readonly refreshAt: number } | null = null;
  #pending: Promise<string> | null = null;

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
    const kept = this.#cached;
    if (kept !== null && this.#clock.now() < kept.refreshAt) return Promise.resolve(kept.token);
    this.#pending ??= this.#refresh().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  /** A `fetch` after whose refusals the token is not used again. */
  wrapFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (...request) => {
      const response = await fetch(...request);
      if (response.status === 401) this.#cached = null;
      return response;
    };
  }

  async #refresh(): Promise<string> {
    const given = await this.#requestToken();
    const { token, expiresOnTimestamp } = typeof given === "string" ? { token: given } : given;
    const now = this.#clock.now();
    const lifeMs = (expiresOnTimestamp ?? now) - now;
    const goodUntil = now + lifeMs - Math.min(lifeMs * REFRESH_EARLY_RATIO, MAX_REFRESH_EARLY_MS);
    this.#cached = { token, refreshAt: goodUntil };
    return token;
  }

  async #requestToken(): Promise<string | AccessToken> {
    try {
      const given = await this.#getToken();
      if (given) return given;
    } catch (cause) {
      if (AgentError.is(cause)) throw cause;
      throw new AuthError(`getToken failed: ${getErrorMessage(cause)}`, { cause });
    }
    throw new AuthError("getToken gave no token");
  }
}
