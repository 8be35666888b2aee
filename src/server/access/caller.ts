/**
 * The callers of the server.
 *
 * @module
 */

/** An authenticated caller. It has the sessions of its tenant and user only. */
export interface Caller {
  /** The tenant, such as the id of a customer. Limits apply to each tenant. Default: one tenant for all. */
  readonly tenant?: string | undefined;
  /** The user, whose sessions other users of the tenant cannot see. Default: all sessions of the tenant. */
  readonly user?: string | undefined;
  /** Whether the caller may read the metrics, which cover all tenants. Default: `false`. */
  readonly mayReadMetrics?: boolean | undefined;
}

/**
 * Returns the caller with a bearer token, or `undefined` for one that is not accepted; the token is empty for a request
 * without one. A function that throws rejects the request with status 503.
 */
export type Authenticate = (
  token: string,
  request: Request,
) => Caller | undefined | Promise<Caller | undefined>;

/** Connection information that a server passes with a request, as `Deno.serve` does. */
export interface Connection {
  /** The address of the caller, with a `hostname` for TCP. */
  readonly remoteAddr?: unknown;
}
