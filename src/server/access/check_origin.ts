/**
 * Protects the server from web pages: by the names under which it is called, and the pages that call it.
 *
 * A page of any site can send requests to this machine, and with DNS rebinding also under a name of its own. The browser
 * reports that name as `Host`, and the page as `Origin`.
 *
 * @module
 */

import { isLoopbackConnection, isLoopbackName } from "../../core/servers/local_caller.ts";
import { createFailure } from "../http/problem.ts";
import type { Connection } from "./caller.ts";

/** Options for {@linkcode checkHost} and {@linkcode checkOrigin}. */
export interface OriginOptions {
  /** Names under which the server may be called, with a port if it is not the default one. Default: see below. */
  readonly allowedHosts: readonly string[] | undefined;
  /** Origins of pages that may call the server, such as `https://app.example.com`. */
  readonly allowedOrigins: readonly string[];
  /** Connection information of the server. */
  readonly connection: Connection | undefined;
}

/**
 * Throws a `RequestFailure` if the server is called under a name that it does not have: one that is not in the list, and
 * no name of this machine, or a text that is no name. Without a list, every name is accepted from other machines.
 */
export function checkHost(
  request: Request,
  { allowedHosts, connection }: Pick<OriginOptions, "allowedHosts" | "connection">,
): void {
  // A server takes the header from the client as it is.
  if (!URL.canParse(request.url)) {
    throw createFailure("bad_request", "The header Host is not the name of a host");
  }
  const url = new URL(request.url);
  const names = [url.host, request.headers.get("host") ?? url.host].map((name) =>
    name.toLowerCase()
  );
  const isRemote = connection !== undefined && !isLoopbackConnection(connection);
  if (allowedHosts === undefined && isRemote) return;
  const known = (allowedHosts ?? []).map((name) => name.toLowerCase());
  if (names.every((name) => known.includes(name) || isLoopbackName(removePort(name)))) return;
  throw createFailure(
    "host_not_allowed",
    "The server is not known under this host name: add it to the allowed hosts of the server",
  );
}

/** Removes the port of a host; the address of IPv6 keeps its brackets. */
function removePort(host: string): string {
  return host.replace(/:\d+$/, "");
}

/**
 * Returns the headers that let a page of another origin read the response: none for a page of the server, and for a
 * program. Throws a `RequestFailure` for other pages.
 */
export function checkOrigin(
  request: Request,
  { allowedOrigins }: Pick<OriginOptions, "allowedOrigins">,
): Readonly<Record<string, string>> {
  const origin = request.headers.get("origin");
  if (origin === null) return {};
  const vary = { vary: "origin" };
  if (allowedOrigins.includes(origin)) {
    return {
      ...vary,
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "retry-after",
    };
  }
  if (isSameHost(origin, request)) return vary;
  throw createFailure("origin_not_allowed", "Web pages of this origin may not call the server");
}

/** Whether a page is one of this server, behind a reverse proxy with TLS too. */
function isSameHost(origin: string, request: Request): boolean {
  if (!URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  return host === (request.headers.get("host") ?? new URL(request.url).host);
}

/** Returns the headers of the response to a preflight request of an allowed origin. */
export function createPreflightHeaders(methods: readonly string[]): Record<string, string> {
  return {
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": "authorization, content-type, idempotency-key, last-event-id",
    "access-control-max-age": "600",
  };
}
