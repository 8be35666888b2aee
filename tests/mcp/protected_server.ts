/**
 * A server that requires a token, with its own authorization server, and a provider of tokens.
 *
 * @module
 */

import { type HttpHandler, HttpServer } from "./http_server.ts";

/** Answers a request for a token in place of the authorization server; `undefined` leaves it to that. */
export type TokenAnswer = (form: URLSearchParams) => Response | object | undefined;

/** The protection of a server. */
interface Protection {
  /** The methods of JSON-RPC that require a token. Default: all but `initialize`. */
  readonly methods?: readonly string[];
  /** Returns the token that is valid. Default: `granted`. */
  readonly getToken?: () => string;
  /** The page of the authorization server. Default: one over HTTP. */
  readonly page?: string;
}

/** A server that requires a token, with its own authorization server. */
export function createProtectedServer(
  answer: TokenAnswer = () => undefined,
  {
    methods = ["server/discover", "tools/list", "tools/call"],
    getToken = () => "granted",
    page,
  }: Protection = {},
): HttpServer {
  const protect = (handler: HttpHandler): HttpHandler => (message, request) =>
    !methods.includes(message.method) ||
      request.headers.get("authorization") === `Bearer ${getToken()}`
      ? handler(message, request)
      : new Response(null, {
        status: 401,
        headers: {
          "www-authenticate":
            `Bearer resource_metadata="${server.url}/../.well-known/oauth-protected-resource"`,
        },
      });
  const origin = () => new URL(server.url).origin;
  const server: HttpServer = new HttpServer({
    "server/discover": protect(({ id }) =>
      Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } })
    ),
    "tools/list": protect(() => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }] })),
    "tools/call": protect(() => ({ content: [{ type: "text", text: "hello" }] })),
    "/.well-known/oauth-protected-resource": () => ({
      resource: server.url,
      authorization_servers: [origin()],
    }),
    "/.well-known/oauth-authorization-server": () => ({
      issuer: origin(),
      authorization_endpoint: page ?? `${origin()}/authorize`,
      token_endpoint: `${origin()}/token`,
      registration_endpoint: `${origin()}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
    }),
    "/register": async (_message, request) => ({ ...await request.json(), client_id: "client 1" }),
    "/token": async (_message, request) => {
      const form = new URLSearchParams(await request.text());
      const other = answer(form);
      if (other) return other;
      const isValid = form.get("code") === "code 1" && form.get("code_verifier") !== null;
      return isValid
        ? { access_token: getToken(), token_type: "Bearer" }
        : Response.json({ error: "invalid_grant" }, { status: 400 });
    },
  });
  return server;
}

/** An `OAuthClientProvider` that keeps everything in memory. */
export class MemoryProvider {
  readonly redirectUrl = "http://127.0.0.1/callback";
  readonly clientMetadata = {
    client_name: "test",
    redirect_uris: [this.redirectUrl],
    token_endpoint_auth_method: "none",
  };
  /** The page that the user would be sent to. */
  page: URL | undefined;
  /** Number of times that the user was sent to a page. */
  redirects = 0;
  #discovery: unknown;
  #client: unknown;
  #tokens: unknown;
  #verifier = "";
  /** The credentials that were discarded. */
  readonly discarded: string[] = [];

  state(): string {
    return "state 1";
  }
  clientInformation(): unknown {
    return this.#client;
  }
  saveClientInformation(client: unknown): void {
    this.#client = client;
  }
  tokens(): unknown {
    return this.#tokens;
  }
  saveTokens(tokens: unknown): void {
    this.#tokens = tokens;
  }
  saveDiscoveryState(discovery: unknown): void {
    this.#discovery = discovery;
  }
  discoveryState(): unknown {
    return this.#discovery;
  }
  invalidateCredentials(credentials: string): void {
    this.discarded.push(credentials);
    if (credentials === "client") this.#client = undefined;
    if (credentials === "tokens") this.#tokens = undefined;
  }
  redirectToAuthorization(url: URL): void {
    this.page = url;
    this.redirects++;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
}

/** Returns the URL with which a user comes back who has authorized the program. */
export function redirect(): Promise<string> {
  return Promise.resolve("http://127.0.0.1/callback?code=code+1&state=state+1");
}
