import { assertEquals, assertStringIncludes } from "@std/assert";
import type { McpServerStatus } from "../../src/mcp/mod.ts";
import { callTool, getText } from "./call_tool.ts";
import { type HttpHandler, HttpServer } from "./http_server.ts";

/** A server that requires the token `granted`, with its own authorization server. */
function createProtectedServer(): HttpServer {
  const protect = (handler: HttpHandler): HttpHandler => (message, request) =>
    request.headers.get("authorization") === "Bearer granted"
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
    "/.well-known/oauth-protected-resource": () => ({
      resource: server.url,
      authorization_servers: [origin()],
    }),
    "/.well-known/oauth-authorization-server": () => ({
      issuer: origin(),
      authorization_endpoint: `${origin()}/authorize`,
      token_endpoint: `${origin()}/token`,
      registration_endpoint: `${origin()}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
    }),
    "/register": async (_message, request) => ({ ...await request.json(), client_id: "client 1" }),
    "/token": async (_message, request) => {
      const form = new URLSearchParams(await request.text());
      const isValid = form.get("code") === "code 1" && form.get("code_verifier") !== null;
      return isValid
        ? { access_token: "granted", token_type: "Bearer" }
        : Response.json({ error: "invalid_grant" }, { status: 400 });
    },
  });
  return server;
}

/** An `OAuthClientProvider` that keeps everything in memory. */
class MemoryProvider {
  readonly redirectUrl = "http://127.0.0.1/callback";
  readonly clientMetadata = {
    client_name: "test",
    redirect_uris: [this.redirectUrl],
    token_endpoint_auth_method: "none",
  };
  /** The page that the user would be sent to. */
  page: URL | undefined;
  #discovery: unknown;
  #client: unknown;
  #tokens: unknown;
  #verifier = "";

  state() {
    return "state 1";
  }
  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client: unknown) {
    this.#client = client;
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens: unknown) {
    this.#tokens = tokens;
  }
  saveDiscoveryState(discovery: unknown) {
    this.#discovery = discovery;
  }
  discoveryState() {
    return this.#discovery;
  }
  invalidateCredentials() {}
  redirectToAuthorization(url: URL) {
    this.page = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
}

Deno.test("OAuth: the user authorizes the program through the provider, and the token is sent [8.13]", async () => {
  await using server = createProtectedServer();
  const provider = new MemoryProvider();
  const states: McpServerStatus["state"][] = [];
  const awaitRedirect = () => {
    assertEquals(provider.page?.searchParams.get("client_id"), "client 1");
    return Promise.resolve("http://127.0.0.1/callback?code=code+1&state=state+1");
  };
  await using mcp = await server.connect({
    servers: { mock: { oauth: { provider, awaitRedirect } } },
    onStatus: ({ state }) => states.push(state),
  });
  assertEquals(getText(await callTool(mcp)), "hello");
  assertEquals(states.map(({ type }) => type), ["authorizing", "starting", "ready"]);
});

Deno.test("OAuth: a user who does not authorize the program makes the server fail, without another attempt", async () => {
  await using server = createProtectedServer();
  const oauth = {
    provider: new MemoryProvider(),
    awaitRedirect: () => Promise.reject(new Error("the window was closed")),
  };
  await using mcp = await server.connect({ servers: { mock: { oauth } } });
  assertEquals(mcp.servers[0]?.state, {
    type: "failed",
    reason: "The authorization failed: the window was closed",
  });
});

Deno.test("OAuth: a wrong code makes the server fail", async () => {
  await using server = createProtectedServer();
  const oauth = {
    provider: new MemoryProvider(),
    awaitRedirect: () => Promise.resolve("http://127.0.0.1/callback?code=wrong&state=state+1"),
  };
  await using mcp = await server.connect({ servers: { mock: { oauth } } });
  const [status] = mcp.servers;
  assertStringIncludes(JSON.stringify(status?.state), "The authorization failed: ");
});

Deno.test("OAuth: a provider of a token needs no user", async () => {
  await using server = createProtectedServer();
  const provider = { token: () => Promise.resolve("granted") };
  await using mcp = await server.connect({ servers: { mock: { oauth: { provider } } } });
  assertEquals(getText(await callTool(mcp)), "hello");
});
