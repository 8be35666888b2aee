/**
 * Rules for addresses: `fetch_url(docs.deno.com)`, `fetch_url(*.deno.com)`, `fetch_url(deno.com/blog/**)`.
 *
 * @module
 */

import { compileGlob } from "../../../core/ignore/glob.ts";
import type { Concern } from "../patterns/concern.ts";

/** A compiled pattern of addresses. */
export interface AddressRule {
  /** Whether the pattern, as that of an allow rule, covers an address. */
  readonly covers: (url: unknown) => boolean;
  /** Whether the pattern, as that of a deny rule, concerns an address. */
  readonly concerns: (url: unknown) => Concern;
}

/**
 * Compiles a host, optionally with a port and a path. Without a port it allows the default one and denies all.
 *
 * @throws {RangeError} When the host is invalid or the path is not a valid glob: a rule that matches nothing would deny
 * nothing.
 */
export function createAddressRule(pattern: string): AddressRule {
  const [host = "", ...names] = pattern.replace(/^(?:https?:\/\/|domain:)/i, "").split("/");
  const matchesHost = compileHost(host.toLowerCase().replace(/\.$/, ""));
  const path = names.join("/");
  if (/#|\?[^/]*=/.test(path)) {
    throw new RangeError("a query or a fragment is not compared: leave it out");
  }
  const matchesPath = compileGlob(path === "" ? "**" : path);
  const matchesPathInAnyCase = compileGlob(path === "" ? "**" : path.toLowerCase());
  return {
    covers: (url) => {
      const address = parseAddress(url);
      return address !== null && matchesHost(address.host) && !hasUnclearPath(address) &&
        matchesPath(getPath(address));
    },
    concerns: (url) => {
      const address = parseAddress(url);
      if (!address) return "possible";
      if (!getHosts(address).some(matchesHost)) return "none";
      if (matchesPath(getPath(address))) return "certain";
      const paths = getPossiblePaths(address);
      return paths?.some(matchesPathInAnyCase) ?? true ? "possible" : "none";
    },
  };
}

/** Compiles a host with its port. It is compared as addresses have it: in ASCII, and IP addresses in their usual form. */
function compileHost(host: string): (host: string) => boolean {
  if (!/[*?{]|\[(?!.*:)/.test(host)) {
    const canonical = canonicalizeHost(host);
    return (other) => other === canonical;
  }
  const labels = host.split(".").map((label) => isAscii(label) ? label : canonicalizeHost(label));
  if (!/^[\w.:*?{},![\]^-]+$/.test(labels.join("."))) throw createHostError(host);
  return compileGlob(labels.join("."));
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text);
}

function canonicalizeHost(host: string): string {
  const [, name = "", port = ""] = /^([^/?#@\\]+?)(:\d+)?$/.exec(host) ?? [];
  const isName = name !== "" && !name.endsWith(":");
  const address = isName ? parseAddress(`http://${name}`) : null;
  if (!address || address.port !== "" || address.pathname !== "/") throw createHostError(host);
  return address.hostname.replace(/\.$/, "") + port;
}

function createHostError(host: string): RangeError {
  return new RangeError(
    `${
      JSON.stringify(host)
    } is no host: write one such as docs.deno.com, with a port after a colon`,
  );
}

/** Node 20.16 has no `URL.parse`. */
function parseAddress(url: unknown): URL | null {
  return typeof url === "string" && URL.canParse(url) ? new URL(url) : null;
}

/** Returns the names of a host, with its port and without; a dot at the end names the same host. */
function getHosts({ hostname, port, protocol }: URL): readonly string[] {
  const name = hostname.replace(/\.$/, "");
  return [name, `${name}:${port || (protocol === "http:" ? 80 : 443)}`];
}

function getPath({ pathname }: URL): string {
  return pathname.slice(1) || "index";
}

/** Whether servers may take a path for another one: escaped separators and dots, empty names. */
function hasUnclearPath({ pathname }: URL): boolean {
  return /%(?:2e|2f|5c|25)|\/\/|[\\;]/i.test(pathname);
}

/** Returns the path as servers may read it, in lower case; `undefined` when that is not known. */
function getPossiblePaths(address: URL): readonly string[] | undefined {
  try {
    const path = decodeURIComponent(address.pathname);
    if (/%|\.\.|[\\;]/.test(path)) return undefined;
    const plain = path.replace(/\/+/g, "/").replace(/^\//, "").toLowerCase();
    // A directory and its index may be the same page.
    return [plain, `${plain.replace(/\/$/, "")}/index`];
  } catch {
    return undefined;
  }
}
