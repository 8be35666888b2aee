/**
 * HTTP requests to a provider.
 *
 * @module
 */

import {
  AgentError,
  AuthError,
  BadRequestError,
  NetworkError,
  StreamError,
} from "../../../src/core/errors/errors.ts";
import { isJsonObject } from "../../../src/core/json/json.ts";
import { abortable } from "../../../src/core/ports/abortable.ts";
import { startTimer } from "../../../src/core/ports/start_timer.ts";
import { redact } from "../../../src/core/text/redact.ts";
import type { ErrorOrigin } from "../errors/classify.ts";
import type { ErrorTable } from "../errors/error_table.ts";
import { notifyLimiter } from "../limits/notify_limiter.ts";
import type { AdapterSettings } from "../options/adapter_options.ts";
import { skipToText, type StartedBody } from "./body_start.ts";
import { createConnectionError } from "./connection_error.ts";
import { parseJsonOrNull, readErrorText } from "./error_text.ts";
import { addEncodedForms, findHeaderSecrets, findUrlSecrets } from "./request_secrets.ts";

/** A request to a provider. */
export interface PostRequest {
  /** Provider name for error messages. */
  readonly provider: string;
  /** URL to post to. */
  readonly url: string;
  /** Advice for when no server listens at a local URL, such as how to start it; part of the error. */
  readonly connectHint?: string | undefined;
  /** Texts to redact from error messages, such as the key. Header values that may be secrets are redacted anyway. */
  readonly secrets?: readonly string[] | undefined;
  /** Headers of the adapter; headers of the settings override them. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON body. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Error codes and messages of the provider. */
  readonly errors?: ErrorTable | undefined;
}

/** Maximum number of redirects of one request. */
const MAX_REDIRECTS = 5;

/**
 * Posts a request and resolves with the body of a successful response. Ends at once when `connection` aborts. Follows
 * redirects of status 307 and 308 within the origin of the URL; all others are refused, because they would pass the key
 * and the conversation to another server.
 *
 * @throws {AgentError} When URL or headers are invalid, the connection fails, the response does not start in time, its
 * status is an error, or it is not a stream.
 */
export async function post(
  outgoing: PostRequest,
  settings: AdapterSettings,
  connection: AbortController,
): Promise<ReadableStream<Uint8Array> | null> {
  const { signal } = connection;
  signal.throwIfAborted();
  const request = { ...outgoing, secrets: collectSecrets(outgoing, settings) };
  assertValidUrl(request);
  const headers = createHeaders(request, settings);
  let { url } = request;
  let response = await send({ ...request, url }, { headers, settings, connection });
  for (let redirects = 0; isRedirect(response); redirects++) {
    void response.body?.cancel().catch(ignore);
    url = resolveRedirect(response, { ...request, url });
    if (redirects === MAX_REDIRECTS) throw createRedirectError(request, "more than 5 times");
    response = await send({ ...request, url }, { headers, settings, connection });
  }
  void notifyLimiter(() => settings.limiter?.observe(response.headers));
  if (response.ok && !isWebPage(response)) {
    if (!isJson(response)) return response.body;
    const { body, startsWithJson } = await readStart(response, { request, settings, connection });
    if (!startsWithJson) return body;
    response = new Response(body, response);
  }
  throw await readError(response, { request, settings, signal });
}

function collectSecrets(
  { url, secrets = [] }: PostRequest,
  { headers }: AdapterSettings,
): string[] {
  return addEncodedForms([...secrets, ...findHeaderSecrets(headers), ...findUrlSecrets(url)]);
}

interface SendOptions {
  readonly headers: Headers;
  readonly settings: AdapterSettings;
  readonly connection: AbortController;
}

/** Sends one request and resolves with the response of any status. */
async function send(
  request: PostRequest,
  { headers, settings: { fetch, clock, connectTimeoutMs }, connection }: SendOptions,
): Promise<Response> {
  const { signal } = connection;
  const { provider, url, body } = request;
  let stopTimer: (() => void) | undefined;
  try {
    // A `fetch` of the caller may return anything.
    const sent: Promise<Response | undefined> = Promise.resolve(
      fetch(url, { method: "POST", headers, body, signal, redirect: "manual" }),
    );
    stopTimer = startTimer(clock, connectTimeoutMs, () => {
      connection.abort(createNetworkError(request, `no response within ${connectTimeoutMs} ms`));
    });
    // Closes a response that arrives after the abort.
    sent.then((response) => signal.aborted ? response?.body?.cancel() : undefined).catch(ignore);
    const response = await abortable(sent, signal);
    if (typeof response?.headers?.get === "function") return response;
    const message = `${provider}: fetch returned no Response: check the fetch option`;
    throw new BadRequestError(message, { provider });
  } catch (cause) {
    if (AgentError.is(cause) || signal.aborted) throw cause;
    throw createConnectionError(cause, request);
  } finally {
    stopTimer?.();
  }
}

interface StartOptions extends Pick<SendOptions, "settings" | "connection"> {
  readonly request: PostRequest;
}

/** Reads the start of a body that is labelled as JSON, which some servers do with a stream. */
async function readStart(
  { body }: Response,
  { request, settings: { clock, idleTimeoutMs }, connection }: StartOptions,
): Promise<StartedBody> {
  const { signal } = connection;
  const stopTimer = startTimer(clock, idleTimeoutMs, () => {
    connection.abort(createNetworkError(request, `no data received for ${idleTimeoutMs} ms`));
  });
  const starting = skipToText(body);
  starting.then(({ body }) => signal.aborted ? body.cancel() : undefined).catch(ignore);
  try {
    return await abortable(starting, signal);
  } catch (cause) {
    throw signal.aborted ? cause : createConnectionError(cause, request);
  } finally {
    stopTimer();
  }
}

function createNetworkError({ provider }: PostRequest, problem: string): NetworkError {
  return new NetworkError(`${provider}: ${problem}`, { provider });
}

/** Matches a URL without a host, whose path `URL` reads as the host. */
const HOSTLESS_URL = /^https?:(?!\/\/[^/])/i;

/** Throws for a URL that no retry makes valid. In a browser, a URL without an origin is one of the page's origin. */
function assertValidUrl({ provider, url, secrets }: PostRequest): void {
  const base = globalThis.location?.href;
  const isValid = URL.canParse(url, base) && /^https?:$/.test(new URL(url, base).protocol);
  if (isValid && !HOSTLESS_URL.test(url)) return;
  const message = `${provider}: the URL is invalid: ${url} (check the baseUrl)`;
  throw new BadRequestError(redact(message, secrets), { provider });
}

/** Returns the headers of the adapter with those of the settings, which override them. */
function createHeaders(
  { provider, headers, secrets = [] }: PostRequest,
  { headers: overrides }: AdapterSettings,
): Headers {
  const merged = new Headers();
  for (const [name, value] of [...Object.entries(headers), ...Object.entries(overrides)]) {
    try {
      merged.set(name, value);
    } catch {
      const problem = "contains characters that a header must not contain";
      if (secrets.some((secret) => value.includes(secret))) {
        throw new AuthError(`${provider}: the API key ${problem}`, { provider });
      }
      throw new BadRequestError(`${provider}: the header "${name}" ${problem}`, { provider });
    }
  }
  return merged;
}

/** Whether a response is a redirect; in a browser its status and URL are hidden. */
function isRedirect({ status, type }: Response): boolean {
  return type === "opaqueredirect" || [301, 302, 303, 307, 308].includes(status);
}

/** Returns the URL of a redirect, which must keep the method and the origin. */
function resolveRedirect({ status, headers }: Response, request: PostRequest): string {
  const base = new URL(request.url, globalThis.location?.href);
  const location = headers.get("location") ?? "";
  // An empty location would be that of the request.
  if (location === "" || !URL.canParse(location, base)) {
    throw createRedirectError(request, `with status ${status}`);
  }
  const url = new URL(location, base);
  if (url.origin !== base.origin || status < 307) {
    // Without the query, which may repeat a secret in any encoding.
    throw createRedirectError(request, `to ${url.origin}${url.pathname}`);
  }
  return url.href;
}

function createRedirectError({ provider, secrets }: PostRequest, target: string): BadRequestError {
  const message = `${provider}: refused a redirect ${target}: change the baseUrl if it is right`;
  return new BadRequestError(redact(message, secrets), { provider });
}

/** Whether a response is a web page, such as captive portals send. */
function isWebPage({ headers }: Response): boolean {
  return /^text\/html\b/i.test(headers.get("content-type") ?? "");
}

/** Whether a response is labelled as JSON: as one value, or wrongly as a stream. */
function isJson({ headers }: Response): boolean {
  return /^application\/json\b/i.test(headers.get("content-type") ?? "");
}

interface ErrorContext {
  readonly request: PostRequest;
  readonly settings: AdapterSettings;
  readonly signal: AbortSignal;
}

/** Reads the error of a response that is not a stream. */
async function readError(
  response: Response,
  { request, settings, signal }: ErrorContext,
): Promise<AgentError> {
  const { status, headers, ok } = response;
  const { provider, errors: table, secrets } = request;
  const body = await readErrorText(response, settings, signal);
  const [{ classifyResponse, classifyStreamError }, { isErrorValue }] = await Promise.all([
    import("../errors/classify.ts"),
    import("../errors/error_body.ts"),
  ]);
  const origin: ErrorOrigin = { provider, table, secrets, now: settings.clock.now() };
  if (!ok) return classifyResponse({ status, headers, body }, origin);
  const parsed = parseJsonOrNull(body);
  const value: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (isJsonObject(value) && isErrorValue(value)) return classifyStreamError(value, origin);
  const type = headers.get("content-type");
  const message = `${provider} answered with ${type} instead of a stream: check the baseUrl`;
  return new StreamError(message, { provider });
}

function ignore(): void {}
