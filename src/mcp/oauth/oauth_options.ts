/**
 * Authorization by OAuth.
 *
 * @module
 */

/**
 * Authorization by OAuth 2.1: how the user authorizes this program, and where its tokens are kept. Registration, PKCE and
 * the renewal of tokens are done by the client.
 */
export interface McpOAuth {
  /** The page that the authorization server opens at the end, such as `http://127.0.0.1:8090/callback`. */
  readonly redirectUrl: string;
  /**
   * Lets the user authorize this program at a URL, in a browser. Resolves with the URL that the authorization server
   * opened at the end, with all its parameters. Rejects if the user does not authorize.
   */
  readonly authorize: (
    url: URL,
    context: { readonly server: string; readonly signal: AbortSignal },
  ) => Promise<URL | string>;
  /** Name of this program that the user sees. Default: `"@swink/agent"`. */
  readonly clientName?: string;
  /** Id of a client that is registered already. Default: the client registers itself. */
  readonly clientId?: string;
  /** Secret of that client. Default: none. */
  readonly clientSecret?: string;
  /** The scopes to request, separated by spaces. Default: those that the server asks for. */
  readonly scope?: string;
  /** Where tokens are kept. Default: in memory, until the program ends. */
  readonly store?: McpOAuthStore;
}

/** Authorization by a provider of the npm package `@modelcontextprotocol/client`, or one with its interface. */
export interface McpOAuthProvider {
  /** The provider: an `OAuthClientProvider` or an `AuthProvider`. */
  readonly provider: object;
  /**
   * Called after the provider has sent the user to the authorization server. Resolves with the URL that the authorization
   * server opened at the end. Default: none, for a provider that needs no user.
   */
  readonly awaitRedirect?: (
    context: { readonly server: string; readonly signal: AbortSignal },
  ) => Promise<URL | string>;
}

/** Keeps the tokens and the registration for a server. They are secrets. */
export interface McpOAuthStore {
  /** Returns what was saved last; `undefined` if nothing was. */
  load(server: string): Promise<string | undefined>;
  /** Saves a text in place of the previous one. */
  save(server: string, text: string): Promise<void>;
}
