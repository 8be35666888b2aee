/**
 * The authorization of this program at one server.
 *
 * @module
 */

import { abortable } from "../../core/abortable.ts";
import { AuthError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { HttpClientTransport } from "../protocol/client_package.ts";
import type { McpOAuth, McpOAuthProvider, McpOAuthStore } from "./oauth_options.ts";

/** Authorizes this program at a server. */
export interface OAuthSession {
  /** The provider for the transport of the client. */
  readonly provider: object;
  /** Waits for the user, and redeems the code. Called after the transport has reported that it is not authorized. */
  authorize(transport: HttpClientTransport, signal: AbortSignal): Promise<void>;
}

/** Creates the authorization at a server, which keeps its tokens for all later connections. */
export function createOAuthSession(
  server: string,
  options: McpOAuth | McpOAuthProvider,
): OAuthSession {
  if (!("provider" in options)) return new StoredOAuthSession(server, options);
  const { provider, awaitRedirect } = options;
  return {
    provider,
    async authorize(transport, signal) {
      if (!awaitRedirect) throw new AuthError("The server requires an authorization");
      const redirect = await abortable(awaitRedirect({ server, signal }), signal);
      await transport.finishAuth(new URL(redirect).searchParams);
    },
  };
}

/** The `OAuthClientProvider` of the client over a store. */
class StoredOAuthSession implements OAuthSession {
  readonly provider: object = this;
  readonly redirectUrl: string;
  readonly clientMetadata: JsonObject;
  readonly #server: string;
  readonly #options: McpOAuth;
  readonly #store: McpOAuthStore;
  #state = "";
  #verifier = "";
  #discovery: unknown;
  #authorizationUrl: URL | undefined;

  constructor(server: string, options: McpOAuth) {
    const { redirectUrl, clientName = "@swink/agent", clientSecret, scope } = options;
    this.#server = server;
    this.#options = options;
    this.#store = options.store ?? createMemoryStore();
    this.redirectUrl = redirectUrl;
    this.clientMetadata = {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: clientSecret === undefined ? "none" : "client_secret_post",
      ...(scope !== undefined && { scope }),
    };
  }

  async authorize(transport: HttpClientTransport, signal: AbortSignal): Promise<void> {
    const url = this.#authorizationUrl;
    if (!url) throw new AuthError("The server requires an authorization, but names no address");
    this.#authorizationUrl = undefined;
    const context = { server: this.#server, signal };
    const redirect = await abortable(this.#options.authorize(url, context), signal);
    const { searchParams } = new URL(redirect);
    if (searchParams.get("state") !== this.#state) {
      throw new AuthError("The authorization was answered with the state of another one");
    }
    await transport.finishAuth(searchParams);
  }

  // The methods of an `OAuthClientProvider`:

  state(): string {
    return this.#state = crypto.randomUUID();
  }

  async clientInformation(): Promise<unknown> {
    const { clientId, clientSecret } = this.#options;
    if (clientId === undefined) return (await this.#load())["client"];
    return {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
    };
  }

  saveClientInformation(client: unknown): Promise<void> {
    return this.#save({ client });
  }

  async tokens(): Promise<unknown> {
    return (await this.#load())["tokens"];
  }

  saveTokens(tokens: unknown): Promise<void> {
    return this.#save({ tokens });
  }

  redirectToAuthorization(url: URL): void {
    this.#authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: unknown): void {
    this.#discovery = state;
  }

  discoveryState(): unknown {
    return this.#discovery;
  }

  async invalidateCredentials(
    scope: "all" | "client" | "tokens" | "verifier" | "discovery",
  ): Promise<void> {
    if (scope === "all" || scope === "discovery") this.#discovery = undefined;
    if (scope === "all" || scope === "verifier") this.#verifier = "";
    if (scope === "all" || scope === "client") await this.#save({ client: undefined });
    if (scope === "all" || scope === "tokens") await this.#save({ tokens: undefined });
  }

  async #load(): Promise<JsonObject> {
    const text = await this.#store.load(this.#server);
    const record: unknown = text === undefined ? {} : parseRecord(text);
    return isJsonObject(record) ? record : {};
  }

  async #save(change: JsonObject): Promise<void> {
    const record = { ...await this.#load(), ...change };
    await this.#store.save(this.#server, JSON.stringify(record));
  }
}

/** A damaged record counts as none: the user authorizes this program again. */
function parseRecord(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function createMemoryStore(): McpOAuthStore {
  const texts = new Map<string, string>();
  return {
    load: (server) => Promise.resolve(texts.get(server)),
    save: (server, text) => {
      texts.set(server, text);
      return Promise.resolve();
    },
  };
}
