/**
 * Stream function for all providers.
 *
 * @module
 */

import { BadRequestError } from "../src/core/errors.ts";
import type { AssistantMessageEvent, StreamFn, StreamRequest } from "../src/core/stream.ts";
import { catalog } from "./catalog/catalog.ts";
import { getProviderAliases } from "./catalog/provider_aliases.ts";
import type { AdapterOptions } from "./kit/options/adapter_options.ts";
import { type ReadEnvironment, readEnvironmentVariable } from "./kit/options/environment.ts";
import { withStrictSchema } from "./kit/request/strict_schema.ts";
import { failedStream, lazyStream } from "./kit/stream/lazy_stream.ts";
import { CUSTOM_SERVER, type ProviderEntry, type ProviderOptions, PROVIDERS } from "./providers.ts";

/** Options for {@linkcode connect}. */
export interface ConnectOptions extends Omit<AdapterOptions, "apiKey" | "baseUrl"> {
  /**
   * Options (key, URL, headers) or a stream function for providers, by the name in `provider/model`. Options with a
   * `baseUrl` under a new name add a server with the chat completions API.
   */
  readonly providers?: Readonly<Record<string, ProviderOptions | StreamFn>> | undefined;
  /** Reads environment variables. Default: those of the runtime. */
  readonly env?: ReadEnvironment | undefined;
}

/**
 * Creates a stream function that calls the provider of each request's model.
 *
 * The key is that of the request, else of `providers`, else of the provider's environment variables, which are read when
 * the provider is called. Adapters are loaded on first use.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { connect, prices } from "@swink/agent/adapters";
 *
 * const agent = new Agent({ model: "anthropic/claude-sonnet-5-5", streamFn: connect(), prices });
 * ```
 */
export function connect(options: ConnectOptions = {}): StreamFn {
  const connections = new Map<string, Connection>();
  return withStrictSchema((request) => {
    const { provider } = request.model;
    const connection = connections.get(provider) ?? new Connection(provider, options);
    connections.set(provider, connection);
    return connection.stream(request);
  }, options.catalog ?? catalog);
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

/** Connection to one provider. */
class Connection {
  readonly #provider: string;
  readonly #options: ConnectOptions;
  /** Entry of the provider in `ConnectOptions.providers`, under any of its names. */
  readonly #config: ProviderOptions | StreamFn | undefined;
  #streamFn: StreamFn | null = null;
  #loading: Promise<StreamFn> | null = null;

  constructor(provider: string, options: ConnectOptions) {
    this.#provider = provider;
    this.#options = options;
    const { providers = {} } = options;
    const name = getProviderAliases(provider).find((alias) =>
      Object.hasOwn(providers, alias) && providers[alias]
    );
    this.#config = name === undefined ? undefined : providers[name];
    if (typeof this.#config === "function") this.#streamFn = this.#config;
  }

  stream(request: StreamRequest): AsyncIterable<AssistantMessageEvent> {
    if (this.#streamFn) return this.#streamFn(request);
    const entry = this.#findEntry();
    if (!entry) return failedStream(this.#createUnknownProviderError());
    return lazyStream(() => this.#load(entry), request);
  }

  async #load(entry: ProviderEntry): Promise<StreamFn> {
    const { env = readEnvironmentVariable } = this.#options;
    this.#loading ??= entry.load(this.#createOptions(entry, env), env);
    this.#streamFn = await this.#loading;
    return this.#streamFn;
  }

  #findEntry(): ProviderEntry | undefined {
    if (Object.hasOwn(PROVIDERS, this.#provider)) return PROVIDERS[this.#provider];
    const config = this.#config;
    return typeof config === "object" && config.baseUrl ? CUSTOM_SERVER : undefined;
  }

  #createOptions(
    { keyVariables: keys, urlVariable: url }: ProviderEntry,
    env: ReadEnvironment,
  ): ProviderOptions {
    const { providers: _providers, env: _env, ...shared } = this.#options;
    const { apiKey, ...config } = typeof this.#config === "object" ? this.#config : {};
    return {
      ...shared,
      baseUrl: url === undefined ? undefined : env(url) || undefined,
      keyHint: this.#createKeyHint(keys),
      ...config,
      apiKey: async () => {
        const key = typeof apiKey === "function" ? await apiKey() : apiKey;
        return key || readFirstVariable(keys, env);
      },
    };
  }

  #createKeyHint(keys: readonly string[]): string {
    const hint =
      `pass providers: { ${this.#provider}: { apiKey } } to connect(), or getApiKey to the agent`;
    return keys.length === 0 ? hint : `set ${keys.join(" or ")} in the environment, ${hint}`;
  }

  #createUnknownProviderError(): BadRequestError {
    const provider = this.#provider;
    return new BadRequestError(
      `Unknown provider "${provider}". Known providers: ${
        providerNames().join(", ")
      }. To add it, ` +
        `pass providers: { "${provider}": … } with a stream function or a baseUrl to connect()`,
      { provider },
    );
  }
}

function readFirstVariable(names: readonly string[], env: ReadEnvironment): string | undefined {
  for (const name of names) {
    const value = env(name);
    if (value) return value;
  }
  return undefined;
}
