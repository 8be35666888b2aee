/**
 * Options of all adapters.
 *
 * @module
 */

import { AgentError, AuthError, getErrorMessage } from "../../../src/core/errors/errors.ts";
import { type Clock, systemClock } from "../../../src/core/ports/ports.ts";
import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import { type Catalog, catalog } from "../../catalog/catalog.ts";
import { checkAdapterOptions } from "./check_options.ts";
import { isPrivateUrl } from "./private_url.ts";

/** An API key, or a function that returns it and is called for every request. */
export type ApiKey = string | (() => string | undefined | Promise<string | undefined>);

/** Options for `RequestLimiter.acquire()`. */
export interface AcquireOptions {
  /** Maximum pause, in milliseconds; a request during a longer one is rejected at once. Default: that of the limiter. */
  readonly maxPauseMs?: number | undefined;
  /** Called before a wait, with its expected time in milliseconds. */
  readonly onWait?: ((delayMs: number) => void) | undefined;
}

/** Delays requests to stay within a rate limit. */
export interface RequestLimiter {
  /** Waits until a request of about `tokens` tokens may be sent. Rejects when the signal aborts. */
  acquire(tokens: number, signal: AbortSignal, options?: AcquireOptions): Promise<void>;
  /** Applies the limits in the headers of a response. Its errors are ignored, as are those of `settle` and `pause`. */
  observe(headers: Headers): void;
  /** Replaces the `acquired` tokens of a request with the tokens actually used. */
  settle?(acquired: number, used: number): void;
  /** Delays all requests by `delayMs` milliseconds, the retry delay of a rejected request. */
  pause?(delayMs: number): void;
  /**
   * Returns the limiter for the requests to one provider, always the same for a name; `connect()` calls it for a limiter of
   * all providers. Default: the requests to all providers share everything.
   */
  forProvider?(name: string): RequestLimiter;
}

/** Options of all adapters. */
export interface AdapterOptions {
  /** API key. `StreamOptions.apiKey` of a request overrides it. */
  readonly apiKey?: ApiKey | undefined;
  /** How to supply a key; part of the error when there is none. Default: mentions `apiKey` and `getApiKey`. */
  readonly keyHint?: string | undefined;
  /** Base URL of the API. Default: the URL of the provider. */
  readonly baseUrl?: string | undefined;
  /** Headers to send; they override the headers of the adapter. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sends the requests. Default: `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * Maximum wait for the start of a response, in milliseconds. Default: 120,000; 600,000 for a server on this device or in
   * a private network, which may load a model first, and needs minutes for a long prompt without a graphics processor.
   * Node's `fetch` waits 300,000 at most, for the start and for data, unless its dispatcher is replaced.
   */
  readonly connectTimeoutMs?: number | undefined;
  /** Maximum time without data within a response, in milliseconds. Default: 300,000. */
  readonly idleTimeoutMs?: number | undefined;
  /** Maximum number of bytes read of an error response. Default: 65,536. */
  readonly maxErrorBytes?: number | undefined;
  /** Limits and abilities of models. Default: the shipped {@linkcode catalog}. */
  readonly catalog?: Catalog | undefined;
  /** Delays requests to stay within a rate limit; agents share a limit by sharing the limiter. Default: none. */
  readonly limiter?: RequestLimiter | undefined;
  /** Clock for tests. Default: the clock of the runtime. */
  readonly clock?: Clock | undefined;
}

/** {@linkcode AdapterOptions} with defaults. */
export interface AdapterSettings {
  /** Base URL of the API, without a trailing slash and without a query. */
  readonly baseUrl: string;
  /** Query of the base URL, which each request gets, without `?`. Default: none. */
  readonly query?: string | undefined;
  /** How to supply a key; part of the error when there is none. */
  readonly keyHint: string;
  /** Headers to send; they override the headers of the adapter. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sends the requests. */
  readonly fetch: typeof globalThis.fetch;
  /** Maximum wait for the start of a response, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Maximum time without data within a response, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Maximum number of bytes read of an error response. */
  readonly maxErrorBytes: number;
  /** Limits and abilities of models. */
  readonly catalog: Catalog;
  /** Delays requests to stay within a rate limit. */
  readonly limiter?: RequestLimiter | undefined;
  /** Current time and timers. */
  readonly clock: Clock;
}

/**
 * Applies the defaults to the options of an adapter.
 *
 * @throws {BadRequestError} If an option is not of its type.
 */
export function resolveSettings(options: AdapterOptions, defaultUrl: string): AdapterSettings {
  checkAdapterOptions(options);
  const { fetch } = options;
  const [url = "", query] = (options.baseUrl ?? defaultUrl).trim().replace(/#.*$/, "").split("?");
  return {
    baseUrl: url.replace(/\/+$/, ""),
    query,
    keyHint: options.keyHint ?? "pass apiKey to the adapter, or getApiKey to the agent",
    headers: options.headers ?? {},
    // Looks `fetch` up on every call, in case a test or an instrumentation replaces it later.
    fetch: fetch ?? ((...request) => globalThis.fetch(...request)),
    connectTimeoutMs: options.connectTimeoutMs ?? (isPrivateUrl(url) ? 600_000 : 120_000),
    idleTimeoutMs: options.idleTimeoutMs ?? 300_000,
    maxErrorBytes: options.maxErrorBytes ?? 65_536,
    catalog: options.catalog ?? catalog,
    limiter: options.limiter,
    clock: options.clock ?? systemClock,
  };
}

/** Headers that carry a key; with one of them, no `apiKey` is required. */
const KEY_HEADERS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/** Whether the headers of the caller carry a key. */
export function hasKeyHeader({ headers }: Pick<AdapterSettings, "headers">): boolean {
  return Object.keys(headers).some((name) => KEY_HEADERS.includes(name.toLowerCase()));
}

/** Returns the key of a request: that of the request, else that of the adapter, else `undefined`. */
export async function findApiKey(
  request: StreamRequest,
  apiKey: ApiKey | undefined,
): Promise<string | undefined> {
  const requestKey = request.options.apiKey?.trim();
  if (requestKey) return requestKey;
  const key = typeof apiKey === "function" ? await callApiKey(apiKey, request) : apiKey;
  if (key && typeof key !== "string") throw createInvalidKeyError(request.model);
  // A pasted key may end with a line break. `fetch` rejects such a header with an error that contains the key.
  return key?.trim() || undefined;
}

async function callApiKey(
  apiKey: () => ReturnType<Extract<ApiKey, () => unknown>>,
  { model: { provider } }: StreamRequest,
): Promise<string | undefined> {
  try {
    return await apiKey();
  } catch (cause) {
    if (AgentError.is(cause)) throw cause;
    throw new AuthError(`${provider}: apiKey failed: ${getErrorMessage(cause)}`, {
      provider,
      cause,
    });
  }
}

function createInvalidKeyError({ provider }: StreamRequest["model"]): AuthError {
  return new AuthError(`${provider}: apiKey must return a string`, { provider });
}

/** The key of an adapter, and how to supply one. */
export interface ApiKeySource {
  /** API key of the adapter. */
  readonly apiKey: ApiKey | undefined;
  /** How to supply a key; part of the error when there is none. */
  readonly keyHint: string;
}

/**
 * Returns the key of a request, for a provider that requires one.
 *
 * @throws {AuthError} When there is none; the message contains `keyHint`.
 */
export async function requireApiKey(
  request: StreamRequest,
  { apiKey, keyHint }: ApiKeySource,
): Promise<string> {
  const key = await findApiKey(request, apiKey);
  if (key) return key;
  const { provider } = request.model;
  throw new AuthError(`No API key for ${provider}: ${keyHint}`, { provider });
}
