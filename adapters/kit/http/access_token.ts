/**
 * Access tokens that expire and are refreshed.
 *
 * @module
 */

import { AgentError, AuthError, getErrorMessage } from "../../../src/core/errors/errors.ts";
import type { Clock } from "../../../src/core/ports/ports.ts";

/** An access token and its expiry. */
export interface AccessToken {
  /** The token. */
  readonly token: string;
  /** Expiry in milliseconds since the epoch. Default: unknown; a new token is requested for every request. */
  readonly expiresOnTimestamp?: number | undefined;
}

/**
 * Returns an access token, like `credential.getToken(scope)` of an identity library. A plain string has no known expiry
 * and is not cached: the function is called for every request.
 */
export type GetToken = () =>
  | string
  | AccessToken
  | null
  | Promise<string | AccessToken | null>;

/** A token is refreshed when a tenth of its lifetime is left, at most five minutes before it expires. */
const REFRESH_EARLY_RATIO = 0.1;
const MAX_REFRESH_EARLY_MS = 5 * 60_000;

/** Caches a token until shortly before it expires. Concurrent callers share one request for a token. */
export class AccessTokenCache {
  readonly #getToken: GetToken;
  readonly #clock: Pick<Clock, "now">;
  #cached: { readonly token: string; readonly refreshAt: number } | null = null;
  #pending: Promise<string> | null = null;

  /** Creates an empty cache. */
  constructor(getToken: GetToken, clock: Pick<Clock, "now">) {
    this.#getToken = getToken;
    this.#clock = clock;
  }

  /**
   * Returns a valid token, a new one if needed.
   *
   * @throws {AuthError} When `getToken` fails or returns no token.
   */
  get(): Promise<string> {
    const cached = this.#cached;
    if (cached !== null && this.#clock.now() < cached.refreshAt) {
      return Promise.resolve(cached.token);
    }
    this.#pending ??= this.#refresh().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  /** Wraps `fetch` so that a response of status 401 drops the cached token. */
  wrapFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (...request) => {
      const response = await fetch(...request);
      if (response.status === 401) this.#cached = null;
      return response;
    };
  }

  async #refresh(): Promise<string> {
    const result = await this.#requestToken();
    const { token, expiresOnTimestamp } = typeof result === "string" ? { token: result } : result;
    const now = this.#clock.now();
    const lifetimeMs = (expiresOnTimestamp ?? now) - now;
    const earlyMs = Math.min(lifetimeMs * REFRESH_EARLY_RATIO, MAX_REFRESH_EARLY_MS);
    this.#cached = { token, refreshAt: now + lifetimeMs - earlyMs };
    return token;
  }

  async #requestToken(): Promise<string | AccessToken> {
    try {
      const result = await this.#getToken();
      if (result) return result;
    } catch (cause) {
      if (AgentError.is(cause)) throw cause;
      throw new AuthError(`getToken failed: ${getErrorMessage(cause)}`, { cause });
    }
    throw new AuthError("getToken returned no token");
  }
}
