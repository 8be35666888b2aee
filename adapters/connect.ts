/**
 * Stream function for all providers.
 *
 * @module
 */

import { AgentError, BadRequestError } from "../src/core/errors/errors.ts";
import type { ModelSpec } from "../src/core/models/model.ts";
import { findRates } from "../src/core/models/usage.ts";
import { failedStream, lazyStreamFn } from "../src/core/streams/lazy_stream_fn.ts";
import type { ModelFacts, StreamFn } from "../src/core/streams/stream.ts";
import { getProviderAliases } from "./catalog/provider_aliases.ts";
import type { AdapterOptions } from "./kit/options/adapter_options.ts";
import { checkAdapterOptions, checkConnectOptions } from "./kit/options/check_options.ts";
import {
  isEnvironmentVariableDenied,
  type ReadEnvironment,
  readEnvironmentVariable,
} from "./kit/options/environment.ts";
import { withCatalog } from "./kit/request/with_catalog.ts";
import { CUSTOM_SERVER, type ProviderEntry, type ProviderOptions, PROVIDERS } from "./providers.ts";

/** Options for {@linkcode connect}. */
export interface ConnectOptions extends Omit<AdapterOptions, "apiKey" | "baseUrl"> {
  /**
   * Options (key, URL, headers) or a stream function for providers, by the name in `provider/model`. They replace those
   * for all providers, except that headers are added to theirs. Options with a `baseUrl` under a new name add a server
   * with the chat completions API. A provider that is `undefined` has no options of its own.
   */
  readonly providers?:
    | Readonly<Record<string, ProviderOptions | StreamFn | undefined>>
    | undefined;
  /** Reads environment variables. Default: those of the runtime. */
  readonly env?: ReadEnvironment | undefined;
}

/**
 * Creates a stream function that calls the provider of each request's model.
 *
 * The key is that of the request, else of `providers`, else of the provider's environment variables, which are read when
 * the provider is called. Adapters are loaded on first use. The function has the prices of the catalog, with which an agent
 * calculates its costs.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { connect } from "@swink/agent/adapters";
 *
 * const agent = new Agent({ model: "anthropic/claude-sonnet-5-5", streamFn: connect() });
 * ```
 */
export function connect(options: ConnectOptions = {}): StreamFn {
  const connections = new Map<string, StreamFn>();
  const call: StreamFn = (request) => {
    const { provider } = request.model;
    try {
      const connection = connections.get(provider) ?? createConnection(provider, options);
      connections.set(provider, connection);
      return connection(request);
    } catch (thrown) {
      if (AgentError.is(thrown)) return failedStream(thrown);
      throw thrown;
    }
  };
  const findCatalog = ({ provider }: ModelSpec) => {
    const config = findConfig(provider, options);
    return (typeof config === "object" ? config.catalog : undefined) ?? options?.catalog;
  };
  return withOwnFacts(withCatalog(call, findCatalog), options);
}

/** Adds the facts that the stream functions in `ConnectOptions.providers` have about their models. */
function withOwnFacts(streamFn: StreamFn, options: ConnectOptions): StreamFn {
  const { hasStrictSchema, prices = {}, contextWindow, maxOutputTokens } = streamFn;
  const findOwn = ({ provider }: ModelSpec) => {
    const config = findConfig(provider, options);
    return typeof config === "function" ? config : undefined;
  };
  const facts: Omit<ModelFacts, "loadFacts"> = {
    hasStrictSchema: (model, schema) =>
      (findOwn(model)?.hasStrictSchema ?? hasStrictSchema)?.(model, schema) ?? false,
    prices: (model) => findRates(findOwn(model)?.prices ?? prices, model),
    contextWindow: (model) => (findOwn(model)?.contextWindow ?? contextWindow)?.(model),
    maxOutputTokens: (model) => (findOwn(model)?.maxOutputTokens ?? maxOutputTokens)?.(model),
  };
  return Object.assign(streamFn, facts);
}

/** Returns the provider names that `connect()` knows. */
export function providerNames(): string[] {
  return Object.keys(PROVIDERS);
}

/**
 * Returns the environment variables that may hold the key of a provider, in order. The list is empty for an unknown
 * provider and for one without a key.
 */
export function keyVariables(provider: string): readonly string[] {
  return Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider]?.keyVariables ?? [] : [];
}

/** Returns the environment variable with the base URL of a provider; `undefined` if none is read. */
export function urlVariable(provider: string): string | undefined {
  return Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider]?.urlVariable : undefined;
}

/** Returns the URL to which requests of a provider go without another one; `undefined` if there is none. */
export function defaultUrl(provider: string): string | undefined {
  return Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider]?.defaultUrl : undefined;
}

/**
 * Creates the stream function of a provider. Its adapter is loaded, and the environment read, on the first request.
 *
 * @throws {BadRequestError} When the provider is unknown, or its options are invalid.
 */
function createConnection(provider: string, options: ConnectOptions): StreamFn {
  checkConnectOptions(options);
  const config = findConfig(provider, options);
  if (typeof config === "function") return config;
  checkConfig(provider, config);
  const entry = findEntry(provider, config);
  if (!entry) throw createUnknownProviderError(provider, options);
  const { providers: _providers, env = readEnvironmentVariable, ...shared } = options;
  const context = { provider, shared, config, env };
  return lazyStreamFn(() => entry.load(createOptions(entry, context), env));
}

/** Returns the entry of a provider in `ConnectOptions.providers`, under any of its names. */
function findConfig(
  provider: string,
  options: ConnectOptions | null,
): ProviderOptions | StreamFn | undefined {
  const configs = new Map(Object.entries(options?.providers ?? {}));
  return getProviderAliases(provider).map((alias) => configs.get(alias)).find(Boolean);
}

function checkConfig(provider: string, config: unknown): void {
  if (config === undefined || typeof config === "object") return;
  const message = `providers.${provider} must be an object of options or a stream function`;
  throw new BadRequestError(`${message}, not a ${typeof config}`, { provider });
}

function findEntry(
  provider: string,
  config: ProviderOptions | undefined,
): ProviderEntry | undefined {
  if (Object.hasOwn(PROVIDERS, provider)) return PROVIDERS[provider];
  return config?.baseUrl ? CUSTOM_SERVER : undefined;
}

interface ConnectionContext {
  readonly provider: string;
  /** Options for all providers. */
  readonly shared: AdapterOptions;
  /** Options for this provider. */
  readonly config: ProviderOptions | undefined;
  readonly env: ReadEnvironment;
}

function createOptions(
  { keyVariables: keys, urlVariable: url }: ProviderEntry,
  { provider, shared, config, env }: ConnectionContext,
): ProviderOptions {
  const { apiKey, headers, ...own } = config ?? {};
  checkAdapterOptions({ apiKey, headers });
  const isOwnServer = !Object.hasOwn(PROVIDERS, provider);
  const { limiter } = shared;
  return {
    ...shared,
    limiter: limiter?.forProvider?.(provider) ?? limiter,
    baseUrl: url === undefined ? undefined : env(url) || undefined,
    keyHint: createKeyHint(provider, keys, env) + (isOwnServer ? KEYLESS_HINT : ""),
    ...omitUndefined(own),
    headers: { ...shared.headers, ...headers },
    apiKey: async () => {
      const key = typeof apiKey === "function" ? await apiKey() : apiKey;
      const isBlank = typeof key === "string" && key.trim() === "";
      return key && !isBlank ? key : readFirstVariable(keys, env);
    },
  };
}

/** Drops the options that are `undefined`, so that they do not replace those of the environment. */
function omitUndefined(options: ProviderOptions): ProviderOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

const KEYLESS_HINT = "; for a server without keys, add keyless: true to its options";

function createKeyHint(provider: string, keys: readonly string[], env: ReadEnvironment): string {
  const hint =
    `pass providers: { ${provider}: { apiKey } } to connect(), or getApiKey to the agent`;
  if (keys.length === 0) return hint;
  const isDenied = env === readEnvironmentVariable && keys.some(isEnvironmentVariableDenied);
  const permission = isDenied ? " (which Deno reads only with --allow-env)" : "";
  return `set ${keys.join(" or ")} in the environment${permission}, ${hint}`;
}

function createUnknownProviderError(
  provider: string,
  { providers }: ConnectOptions,
): BadRequestError {
  const names = new Set([...Object.keys(providers ?? {}), ...providerNames()]);
  names.delete(provider);
  return new BadRequestError(
    `Unknown provider "${provider}". Known providers: ${[...names].join(", ")}. To add it, ` +
      `pass providers: { "${provider}": … } with a stream function or a baseUrl to connect()`,
    { provider },
  );
}

function readFirstVariable(names: readonly string[], env: ReadEnvironment): string | undefined {
  for (const name of names) {
    const value = env(name);
    if (value) return value;
  }
  return undefined;
}
