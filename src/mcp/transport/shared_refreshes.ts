/**
 * Requests that refresh a token, of which equal ones are sent once.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import type { Clock } from "../../core/ports/ports.ts";

/** Time in which a request that was about to be sent gets the answer of an equal one. */
const REUSE_MS = 10_000;

/**
 * Sends one of the equal requests that refresh a token: those of calls that were refused at the same time. Most
 * authorization servers accept a refresh token once, and revoke all tokens if it is used again (RFC 9700, section 4.14).
 */
export class SharedRefreshes {
  readonly #clock: Pick<Clock, "now">;
  #last: SharedRefresh | undefined;

  /** Creates an empty list of requests. */
  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Returns the answer of an equal request, or sends this one. */
  async share(
    { key, token }: RefreshRequest,
    request: () => Promise<Response>,
  ): Promise<Response> {
    const refresh = this.#find(key) ?? this.#start({ key, token }, request);
    const response = await refresh.response;
    return Object.defineProperty(response.clone(), "url", { value: response.url });
  }

  #find(key: string): SharedRefresh | undefined {
    const { key: lastKey, endsAt = Infinity } = this.#last ?? {};
    return key === lastKey && this.#clock.now() < endsAt ? this.#last : undefined;
  }

  #start({ key, token }: RefreshRequest, request: () => Promise<Response>): SharedRefresh {
    const refresh: SharedRefresh = { key, response: request(), endsAt: undefined };
    this.#last = refresh;
    const end = (isReplaced: boolean): void => {
      if (isReplaced) refresh.endsAt = this.#clock.now() + REUSE_MS;
      else if (this.#last === refresh) this.#last = undefined;
    };
    refresh.response.then((response) => hasOtherToken(response, token)).then(end, () => end(false));
    return refresh;
  }
}

/** Whether an answer has another refresh token than its request, which then cannot be used again. */
async function hasOtherToken(response: Response, token: string | null): Promise<boolean> {
  if (!response.ok) return false;
  const body: unknown = await response.clone().json();
  return isJsonObject(body) && (body["refresh_token"] ?? token) !== token;
}

/** A request that refreshes a token. */
export interface RefreshRequest {
  /** The address and the form; equal ones have one answer. */
  readonly key: string;
  /** The refresh token. */
  readonly token: string | null;
}

/** A request that was sent. */
interface SharedRefresh {
  /** Its address and its form. */
  readonly key: string;
  readonly response: Promise<Response>;
  /** Time after which it is sent again; `undefined` until it is answered. */
  endsAt: number | undefined;
}
