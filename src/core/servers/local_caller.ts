/**
 * Callers of servers that are on the same machine.
 *
 * @module
 */

/** Connection information that a server passes with a request, as `Deno.serve` does. */
export interface CallerConnection {
  /** The address of the caller, with a `hostname` for TCP. */
  readonly remoteAddr?: unknown;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(?:\.\d{1,3}){3}\]?)$/i;

/** Headers that reverse proxies add; the caller behind one is not local, although its connection is. */
const FORWARDING_HEADERS = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "cf-connecting-ip",
  "true-client-ip",
];

/** Whether a host name or an address without a port is one of this machine. */
export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** Whether a connection comes from this machine, as far as the server reports its address. */
export function isLoopbackConnection(connection: CallerConnection | undefined): boolean {
  const address = connection?.remoteAddr;
  if (typeof address !== "object" || address === null || !("hostname" in address)) return false;
  return typeof address.hostname === "string" && isLoopbackName(address.hostname);
}

/** Whether the caller of a request is on this machine, and no reverse proxy has forwarded the request. */
export function isLocalCaller(
  { headers }: Request,
  connection: CallerConnection | undefined,
): boolean {
  return isLoopbackConnection(connection) && !FORWARDING_HEADERS.some((name) => headers.has(name));
}
