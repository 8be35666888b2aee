/**
 * Errors of requests that got no response, and of responses that ended early.
 *
 * @module
 */

import { BadRequestError, getErrorMessage, NetworkError } from "../../../src/core/errors/errors.ts";
import { redact } from "../../../src/core/text/redact.ts";

/** A request that failed. */
export interface FailedRequest {
  /** Provider name for the message. */
  readonly provider: string;
  /** URL of the request. */
  readonly url: string;
  /** Advice for when no server listens at a local URL, such as how to start it. */
  readonly connectHint?: string | undefined;
  /** Texts to redact from the message. */
  readonly secrets?: readonly string[] | undefined;
}

/** The limit of each wait of Node's `fetch`, which no option of the request changes. */
const LIMIT_OF_NODE =
  "the limit of Node's fetch, by default 5 minutes: set a dispatcher of undici without it, as docs/runtimes.md shows";

/** Reasons by the codes and messages of Node, Deno (the messages of its HTTP client) and Bun. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED|ConnectionRefused|connection refused|actively refused/i, "connection refused"],
  [
    /ENOTFOUND|EAI_|dns error|failed to lookup|getaddrinfo|DNSException/i,
    "the host name could not be resolved",
  ],
  [
    /certificate|CERT_|_CERT|UNABLE_TO_VERIFY|UnknownIssuer|NotValidForName/i,
    "the TLS certificate was rejected",
  ],
  [
    /ERR_SSL|EPROTO|corrupt message|wrong version number|handshake|\bTLS\b/i,
    "the TLS handshake failed, as at a server without TLS (an http: URL)",
  ],
  [
    /unsuccessful tunnel|HTTP Tunneling/i,
    "the proxy did not connect to the host (see HTTPS_PROXY or HTTP_PROXY)",
  ],
  [
    /UND_ERR_HEADERS_TIMEOUT|Headers Timeout/,
    `no response within ${LIMIT_OF_NODE}`,
  ],
  [/ETIMEDOUT|_TIMEOUT|timed out/i, "connection timed out"],
  [/EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|unreachable|no route/i, "the host is unreachable"],
  [/ECONNRESET|EPIPE|connection reset|broken pipe/i, "connection reset"],
  [
    /HPE_|Expected HTTP\/|invalid HTTP version|Malformed_HTTP|InvalidHTTPResponse/i,
    "the server does not answer with HTTP, as one that requires TLS (an https: URL)",
  ],
  [
    /UND_ERR_SOCKET|other side closed|connection closed|ConnectionClosed|socket (?:hang up|connection was closed)/i,
    "the server closed the connection without a response",
  ],
];

/** Reasons that no retry changes, by the messages of the same programs. */
const LASTING_REASONS: readonly (readonly [RegExp, string])[] = [
  [/Requests to port \d+ are blocked|\bbad port$/i, "fetch refuses this port: change the baseUrl"],
  [
    /proxy authentication required|Proxy response \(407\)/i,
    "the proxy requires a name and a password: check HTTPS_PROXY or HTTP_PROXY",
  ],
];

/** Messages that only state that a request failed. */
const UNSPECIFIC = /^(?:fetch failed|failed to fetch|load failed)$/i;

const MAX_CAUSES = 5;

/** Creates the error of a request that was rejected with `cause`; it names host, port and reason. */
export function createConnectionError(
  cause: unknown,
  { provider, url, connectHint, secrets }: FailedRequest,
): NetworkError | BadRequestError {
  const messages = collectMessages(cause);
  const text = messages.join(": ");
  const { host, isLocal } = describeHost(url);
  if (/NotCapable|PermissionDenied/.test(text)) {
    const message = `${provider}: access to ${host} is not permitted: ${messages.at(-1)}`;
    return new BadRequestError(redact(message, secrets), { provider });
  }
  const lasting = LASTING_REASONS.find(([pattern]) => pattern.test(text))?.[1];
  if (lasting !== undefined) {
    return new BadRequestError(`${provider}: request to ${host} failed: ${lasting}`, { provider });
  }
  const reason = REASONS.find(([pattern]) => pattern.test(text))?.[1];
  const details = reason?.startsWith("the TLS certificate") ? ` (${messages.at(-1)})` : "";
  const isRefused = reason === "connection refused";
  const hint = isRefused && isLocal
    ? `; ${connectHint ?? "check that the server is running and the port is right"}`
    : "";
  const problem = `request to ${host} failed: ${reason ?? text}${details}${hint}`;
  return new NetworkError(redact(`${provider}: ${problem}`, secrets), { provider });
}

/** Returns why a response ended early, from the error with which its body was read and the causes of that. */
export function describeLostConnection(cause: unknown): string {
  const text = collectMessages(cause).join(": ");
  return /UND_ERR_BODY_TIMEOUT|Body Timeout/.test(text)
    ? `no data received within ${LIMIT_OF_NODE}`
    : text;
}

/** Returns the messages of an error and its causes, with their codes, from the outermost to the innermost. */
function collectMessages(error: unknown): string[] {
  const messages: string[] = [];
  let next: unknown = error;
  for (let depth = 0; (next ?? null) !== null && depth < MAX_CAUSES; depth++) {
    const { code, name, cause, errors }: {
      code?: unknown;
      name?: unknown;
      cause?: unknown;
      errors?: readonly unknown[];
    } = Object(next);
    const message = getErrorMessage(next);
    const parts = [typeof code === "string" && !message.includes(code) ? code : "", message];
    if (name === "NotCapable" || name === "PermissionDenied") parts.unshift(name);
    const text = parts.filter((part) => part !== "").join(" ");
    if (text !== "" && !UNSPECIFIC.test(text)) messages.push(text);
    // Node tries all addresses of a host and reports an error for each.
    next = cause ?? errors?.[0];
  }
  return messages.length > 0 ? messages : [getErrorMessage(error)];
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

function describeHost(url: string): { host: string; isLocal: boolean } {
  const { hostname, port, protocol } = new URL(url, globalThis.location?.href);
  return {
    host: `${hostname}:${port || DEFAULT_PORTS[protocol]}`,
    isLocal: /^(?:localhost|127\.|\[::1\]|0\.0\.0\.0)/.test(hostname),
  };
}
