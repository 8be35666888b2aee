/**
 * What every adapter can be told.
 *
 * @module
 */

import type { StreamRequest } from "../../../src/core/stream.ts";
import { AuthError } from "../../../src/core/errors.ts";
import { type Catalog, catalog } from "../../catalog/catalog.ts";
import { type Clock, systemClock } from "./clock.ts";

/** A key, or a function that knows it; it is asked at every request. */
export type ApiKey = string | (() => string | undefined | Promise<string | undefined>);

/** Port: makes requests wait for their turn. */
export interface RequestLimiter {
  /** Waits until a request of about so many tokens may be sent; rejects as soon as the signal aborts. */
  acquire(tokens: number, signal: AbortSignal): Promise<void>;
  /** Reads what the headers of a response tell of limits. */
  observe(headers: Headers): void;
  /** Hears what a request that was acquired has really used, once that is known. */
  settle?(acquired: number, used: number): void;
  /** Hears that the provider wants no requests for so long, in milliseconds. */
  pause?(delayMs: number): void;
}

/** Options that all adapters take. */
export interface AdapterOptions {
  /** The key. `StreamOptions.apiKey` of a request beats it. */
  readonly apiKey?: ApiKey | undefined;
  /** What to do when there is no key, for the error that says so. Default: names `apiKey` and `getApiKey`. */
  readonly keyHint?: string | undefined;
  /** Where the API is, without the path of the call. Default: the provider's own address. */
  readonly baseUrl?: string | undefined;
  /** Headers to send as well; they beat the adapter's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Port: how requests are sent. Default: the runtime's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Longest wait for the head of a response, in milliseconds. Default: 120,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Longest silence within a response, in milliseconds. Default: 300,000. */
  readonly idleTimeoutMs?: number | undefined;
  /** Most bytes of an error's body that are read. Default: 65,536. */
  readonly maxErrorBytes?: number | undefined;
  /** What is known of models. Default: the shipped {@linkcode catalog}. */
  readonly catalog?: Catalog | undefined;
  /** Makes requests wait for their turn; agents that share a limit share it. Default: none do. */
  readonly limiter?: RequestLimiter | undefined;
  /** Port: time and timers. Default: the runtime's. */
  readonly clock?: Clock | undefined;
}

/** {@linkcode AdapterOptions} with every default filled in. */
export interface AdapterSettings {
  /** Where the API is, without a final slash. */
  readonly baseUrl: string;
  /** What to do when there is no key. */
  readonly keyHint: string;
  /** Headers to send as well. */
  readonly headers: Readonly<Record<string, string>>;
  /** How requests are sent. */
  readonly fetch: typeof globalThis.fetch;
  /** Longest wait for the head of a response, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Longest silence within a response, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Most bytes of an error's body that are read. */
  readonly maxErrorBytes: number;
  /** What is known of models. */
  readonly catalog: Catalog;
  /** Makes requests wait for their turn. */
  readonly limiter?: RequestLimiter | undefined;
  /** Time and timers. */
  readonly clock: Clock;
}

/** Fills in the defaults. */
export function resolveSettings(options: AdapterOptions, defaultUrl: string): AdapterSettings {
  const { fetch } = options;
  return {
    baseUrl: (options.baseUrl ?? defaultUrl).replace(/\/+$/, ""),
    keyHint: options.keyHint ?? "give the adapter an apiKey, or the agent a getApiKey",
    headers: options.headers ?? {},
    // Looked up at every call, so that a `fetch` replaced later (a test, an instrumentation) is used.
    fetch: fetch ?? ((...request) => globalThis.fetch(...request)),
    connectTimeoutMs: options.connectTimeoutMs ?? 120_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 300_000,
    maxErrorBytes: options.maxErrorBytes ?? 65_536,
    catalog: options.catalog ?? catalog,
    limiter: options.limiter,
    clock: options.clock ?? systemClock,
  };
}

/** Headers that carry a key: who sends one needs no `apiKey`. */
const KEY_HEADERS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/** Tells whether the caller's own headers carry a key. */
export function hasKeyHeader({ headers }: Pick<AdapterSettings, "headers">): boolean {
  return Object.keys(headers).some((name) => KEY_HEADERS.includes(name.toLowerCase()));
}

/** The key of a request: its own, else the adapter's; `undefined` when there is none. */
export async function findApiKey(
  request: StreamRequest,
  apiKey: ApiKey | undefined,
): Promise<string | undefined> {
  const own = request.options.apiKey?.trim();
  if (own) return own;
  const key = typeof apiKey === "function" ? await apiKey() : apiKey;
  // Keys are pasted, and a line end within a header is an error that would print the key.
  return key?.trim() || undefined;
}

/** A key, and what is to be said when there is none. */
export interface ApiKeySource {
  /** The adapter's key. */
  readonly apiKey: ApiKey | undefined;
  /** What to do when there is none. */
  readonly keyHint: string;
}

/**
 * The key of a request, for a provider that does not answer without one.
 *
 * @throws {AuthError} When there is none; the message says what to do.
 */
export async function requireApiKey(
  request: StreamRequest,
  { apiKey, keyHint }: ApiKeySource,
): Promise<string> {
  const key = await findApiKey(request, apiKey);
  if (key) return key;
  const { provider } = request.model;
  throw new AuthError(`There is no API key for ${provider}: ${keyHint}`, { provider });
}
