/**
 * Addresses of this machine.
 *
 * @module
 */

import type { Connection } from "./caller.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(?:\.\d{1,3}){3}\]?)$/i;

/** Whether a host name or an address without a port is one of this machine. */
export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** Whether a caller is on this machine, as far as the server reports its address. */
export function isLoopbackConnection(connection: Connection | undefined): boolean {
  const address = connection?.remoteAddr;
  if (typeof address !== "object" || address === null || !("hostname" in address)) return false;
  return typeof address.hostname === "string" && isLoopbackName(address.hostname);
}
