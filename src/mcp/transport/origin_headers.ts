/**
 * A `fetch` that sends the headers of a server only to that server.
 *
 * @module
 */

/** Options for {@linkcode keepHeadersAtOrigin}. */
export interface OriginHeaders {
  /** The origin of the server. */
  readonly origin: string;
  /** The headers of its configuration, which may have secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns a `fetch` that removes the headers of a server from requests to other origins. The client sends them also to the
 * authorization server, which the server names.
 */
export function keepHeadersAtOrigin(
  send: typeof fetch,
  { origin, headers }: OriginHeaders,
): typeof fetch {
  return async (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    if (new URL(address).origin === origin) return await send(input, init);
    const kept = new Headers(init?.headers);
    for (const [name, value] of new Headers(headers)) {
      // One with another value is not that of the configuration, such as the credentials for a token.
      if (kept.get(name) === value) kept.delete(name);
    }
    return await send(input, { ...init, headers: kept });
  };
}
