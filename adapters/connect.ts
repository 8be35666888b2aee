/**
 * One stream function for all providers.
 *
 * @module
 */

import { BadRequestError } from "../src/core/errors.ts";
import type { AssistantMessageEvent, StreamFn, StreamRequest } from "../src/core/stream.ts";
import { type ReadEnvironment, readEnvironmentVariable } from "./kit/options/environment.ts";
import { CUSTOM_SERVER, type ProviderEntry, type ProviderOptions, PROVIDERS } from "./providers.ts";
import { catalog } from "./catalog/catalog.ts";
import { failedStream, lazyStream } from "./kit/stream/lazy_stream.ts";
import type { AdapterOptions } from "./kit/options/adapter_options.ts";
import { withStrictSchema } from "./kit/request/strict_schema.ts";

/** Options of {@linkcode connect}. */
export interface ConnectOptions extends Omit<AdapterOptions, "apiKey" | "baseUrl"> {
  /**
   * Single providers by their names in `provider/model`: options (a key, an address, headers), or a stream function.
   * Under a new name, options with a `baseUrl` make a server that speaks chat completions.
   */
  readonly providers?: Readonly<Record<string, ProviderOptions | StreamFn>> | undefined;
  /** Port: how environment variables are read. Default: the runtime's own. */
  readonly env?: ReadEnvironment | undefined;
}

/**
 * Makes a stream function that asks the provider named by each request's model.
 *
 * Keys come from the request, from `providers`, or from the usual environment variables, which are read by name when
 * a provider is asked. Adapters are loaded the first time that they are needed.
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
    const known = connections.get(provider) ?? new Connection(provider, options);
    connections.set(provider, known);
    return known.stream(request);
  }, options.catalog ?? catalog);
}

/** The names that `provider/model` may begin with. */
export function providerNames(): string[] {
  return Object.keys(PROVIDERS);
}

/**
 * The environment variables that may hold the key of a provider, in order; none where no key is needed, or none is
 * known.
 */
export function keyVariables(provider: string): readonly string[] {
  return Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider]?.keyVariables ?? [] : [];
}

/** What one provider is asked through. */
class Connection {
  readonly #provider: string;
  readonly #options: ConnectOptions;
  #streamFn: StreamFn | null = null;
  #loading: Promise<StreamFn> | null = null;

  constructor(provider: string, options: ConnectOptions) {
    this.#provider = provider;
    this.#options = options;
    const own = this.#getConfig();
    if (typeof own === "function") this.#streamFn = own;
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

  #getConfig(): ProviderOptions | StreamFn | undefined {
    const { providers = {} } = this.#options;
    return Object.hasOwn(providers, this.#provider) ? providers[this.#provider] : undefined;
  }

  #findEntry(): ProviderEntry | undefined {
    if (Object.hasOwn(PROVIDERS, this.#provider)) return PROVIDERS[this.#provider];
    const own = this.#getConfig();
    return typeof own === "object" && own.baseUrl ? CUSTOM_SERVER : undefined;
  }

  #createOptions(
    { keyVariables: keys, urlVariable: url }: ProviderEntry,
    env: ReadEnvironment,
  ): ProviderOptions {
    const { providers: _providers, env: _env, ...shared } = this.#options;
    const own = this.#getConfig();
    const { apiKey, ...rest } = typeof own === "object" ? own : {};
    return {
      ...shared,
      baseUrl: url === undefined ? undefined : env(url) || undefined,
      keyHint: this.#createKeyHint(keys),
      ...rest,
      apiKey: async () => {
        const given = typeof apiKey === "function" ? await apiKey() : apiKey;
        return given || readFirstVariable(keys, env);
      },
    };
  }

  #createKeyHint(keys: readonly string[]): string {
    const give =
      `give connect() providers: { ${this.#provider}: { apiKey } }, or the agent a getApiKey`;
    return keys.length === 0 ? give : `set ${keys.join(" or ")} in the environment, ${give}`;
  }

  #createUnknownProviderError(): BadRequestError {
    const provider = this.#provider;
    return new BadRequestError(
      `There is no provider named "${provider}". Known are ${providerNames().join(", ")}; ` +
        `connect({ providers: { "${provider}": … } }) adds a stream function, or a server by its baseUrl`,
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
