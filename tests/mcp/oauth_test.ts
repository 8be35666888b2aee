import * as clientPackage from "@modelcontextprotocol/client";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { connectMcp, type McpServerStatus } from "../../src/mcp/mod.ts";
import { waitUntil } from "../wait_until.ts";
import { callTool, getText } from "./call_tool.ts";
import {
  createProtectedServer,
  MemoryProvider,
  redirect,
  type TokenAnswer,
} from "./protected_server.ts";

/** Records what is written to the console. */
class ConsoleRecorder implements Disposable {
  readonly written: unknown[] = [];
  readonly #original = { ...console };

  constructor() {
    for (const name of ["debug", "error", "info", "log", "warn"] as const) {
      console[name] = (...texts: unknown[]) => void this.written.push(texts);
    }
  }

  [Symbol.dispose](): void {
    Object.assign(console, this.#original);
  }
}

/** Connects with credentials of earlier, whose access token has expired. */
async function connectWithOldToken(
  answer: TokenAnswer,
  provider: MemoryProvider,
): Promise<{ readonly states: string[]; readonly warnings: string[]; readonly text: string }> {
  await using server = createProtectedServer((form) =>
    form.get("grant_type") === "refresh_token" ? answer(form) : undefined
  );
  const issuer = new URL(server.url).origin;
  provider.saveClientInformation({ client_id: "client 0", issuer });
  provider.saveTokens({
    access_token: "expired",
    token_type: "Bearer",
    refresh_token: "refresh 1",
    issuer,
  });
  const states: string[] = [];
  const warnings: string[] = [];
  using recorder = new ConsoleRecorder();
  await using mcp = await server.connect({
    servers: { mock: { oauth: { provider, awaitRedirect: redirect } } },
    onStatus: ({ state }) => states.push(state.type === "restarting" ? state.reason : state.type),
    onWarning: ({ message }) => warnings.push(message),
  });
  const text = mcp.servers[0]?.state.type === "ready" ? getText(await callTool(mcp)) : "";
  assertEquals(recorder.written, []);
  return { states: [...states], warnings, text };
}

Deno.test("OAuth: an expired token is refreshed", async () => {
  const provider = new MemoryProvider();
  const answer = (form: URLSearchParams) => {
    assertEquals(form.get("refresh_token"), "refresh 1");
    return { access_token: "granted", token_type: "Bearer" };
  };
  const { states, text, warnings } = await connectWithOldToken(answer, provider);
  assertEquals([states, text, warnings], [["ready"], "hello", []]);
  assertEquals(provider.discarded, []);
});

Deno.test("OAuth: credentials that are rejected are discarded and reported, and the user authorizes the program again", async () => {
  for (
    const [error, discarded] of [
      ["invalid_grant", ["tokens"]],
      ["invalid_client", ["client", "tokens"]],
      ["unauthorized_client", ["client", "tokens"]],
    ] as const
  ) {
    const provider = new MemoryProvider();
    const answer = () => Response.json({ error, error_description: "revoked" }, { status: 400 });
    const { states, text, warnings } = await connectWithOldToken(answer, provider);
    assertEquals([states, text], [["authorizing", "starting", "ready"], "hello"], error);
    assertEquals(provider.discarded, [...discarded]);
    assertEquals(warnings.length, 1);
    assertStringIncludes(warnings[0] ?? "", `${error}: revoked`);
  }
});

Deno.test("OAuth: an authorization server that is out of order delays the start, and discards nothing", async () => {
  const answers: TokenAnswer[] = [
    () => new Response("Bad gateway", { status: 502 }),
    () => Response.json({ error: "server_error" }, { status: 500 }),
    () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    () => ({ token_type: "Bearer" }),
  ];
  for (const answer of answers) {
    const provider = new MemoryProvider();
    const { states, warnings } = await connectWithOldToken(answer, provider);
    assertStringIncludes(states.join(" "), "The authorization server answered with the status");
    assertEquals([provider.discarded, provider.page, warnings], [[], undefined, []]);
  }
});

Deno.test("OAuth: an error of the authorization server that rejects no credentials is the reason", async () => {
  const answer = () =>
    Response.json({ error: "invalid_scope", error_description: "not this" }, { status: 400 });
  const { states } = await connectWithOldToken(answer, new MemoryProvider());
  assertStringIncludes(states.join(" "), "not this");
});

Deno.test("OAuth: credentials that are rejected during a call are discarded, and the call says so", async () => {
  let isExpired = false;
  await using server = createProtectedServer((form) =>
    form.get("grant_type") === "refresh_token"
      ? Response.json({ error: "invalid_grant" }, { status: 400 })
      : { access_token: isExpired ? "other" : "granted", token_type: "Bearer", refresh_token: "r" }
  );
  const provider = new MemoryProvider();
  const states: string[] = [];
  using recorder = new ConsoleRecorder();
  await using mcp = await server.connect({
    servers: { mock: { oauth: { provider, awaitRedirect: redirect } } },
    onStatus: ({ state }) => states.push(state.type),
  });
  assertEquals(getText(await callTool(mcp)), "hello");
  provider.saveTokens({ access_token: "expired", token_type: "Bearer", refresh_token: "r" });
  isExpired = true;
  assertStringIncludes(getText(await callTool(mcp)), "requires an authorization by the user");
  assertEquals(provider.discarded, ["tokens"]);
  assertEquals(recorder.written, []);
});

Deno.test("OAuth: credentials without their authorization server are bound to the one that is used", async () => {
  await using server = createProtectedServer((form) =>
    form.get("grant_type") === "refresh_token"
      ? { access_token: "granted", token_type: "Bearer" }
      : undefined
  );
  const issuer = new URL(server.url).origin;
  const provider = new MemoryProvider();
  provider.saveClientInformation({ client_id: "client 0" });
  provider.saveTokens({ access_token: "old", token_type: "Bearer", refresh_token: "r" });
  const warnings: string[] = [];
  using recorder = new ConsoleRecorder();
  await using mcp = await server.connect({
    servers: { mock: { oauth: { provider } } },
    onWarning: ({ message }) => warnings.push(message),
  });
  assertEquals(getText(await callTool(mcp)), "hello");
  assertEquals(recorder.written, []);
  assertStringIncludes(warnings.join("\n"), "stored without their authorization server");
  assertEquals(provider.clientInformation(), { client_id: "client 0", issuer });
});

Deno.test("OAuth: a provider that keeps nothing about the authorization server can be used", async () => {
  await using server = createProtectedServer();
  const memory = new MemoryProvider();
  const omitted = ["discoveryState", "saveDiscoveryState", "invalidateCredentials"];
  const provider = new Proxy(memory, {
    get(target, name) {
      if (omitted.includes(String(name))) return undefined;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  using recorder = new ConsoleRecorder();
  await using mcp = await server.connect({
    servers: { mock: { oauth: { provider, awaitRedirect: redirect } } },
  });
  assertEquals(getText(await callTool(mcp)), "hello");
  assertEquals(recorder.written, []);
});

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
  using recorder = new ConsoleRecorder();
  await using mcp = await server.connect({ servers: { mock: { oauth } } });
  const [status] = mcp.servers;
  assertStringIncludes(JSON.stringify(status?.state), "The authorization failed: invalid_grant");
  assertEquals(recorder.written, []);
});

Deno.test("OAuth: a code with the state of another authorization is not used", async () => {
  const grants: (string | null)[] = [];
  await using server = createProtectedServer((form) => void grants.push(form.get("grant_type")));
  for (const state of ["", "&state=other"]) {
    const awaitRedirect = () => Promise.resolve(`http://127.0.0.1/callback?code=code+1${state}`);
    await using mcp = await server.connect({
      servers: { mock: { oauth: { provider: new MemoryProvider(), awaitRedirect } } },
    });
    assertEquals(mcp.servers[0]?.state, {
      type: "failed",
      reason: "The answer of the authorization server has another state than its request",
    });
  }
  assertEquals(grants, []);
});

Deno.test("OAuth: the user is sent to no page of another protocol than HTTP", async () => {
  for (const page of ["file:///bin/sh", "ms-search:query", "ssh://host"]) {
    await using server = createProtectedServer(undefined, { page });
    const provider = new MemoryProvider();
    await using mcp = await server.connect({
      servers: { mock: { oauth: { provider, awaitRedirect: redirect } } },
    });
    assertEquals(mcp.servers[0]?.state, {
      type: "failed",
      reason: `The page of the authorization server must not begin with ${new URL(page).protocol}`,
    });
    assertEquals(provider.redirects, 0);
  }
});

Deno.test("OAuth: a provider of a token needs no user", async () => {
  await using server = createProtectedServer();
  const provider = { token: () => Promise.resolve("granted") };
  await using mcp = await server.connect({ servers: { mock: { oauth: { provider } } } });
  assertEquals(getText(await callTool(mcp)), "hello");
});

Deno.test("OAuth: the headers of the configuration reach no other origin, such as the authorization server [8.13]", async () => {
  const received: string[] = [];
  const answers: Readonly<Record<string, (request: Request) => object | Response>> = {
    "https://mcp.example/mcp": ({ headers }) =>
      headers.get("authorization") === "Bearer granted"
        ? new Response(null, { status: 500 })
        : new Response(null, { status: 401 }),
    "https://mcp.example/.well-known/oauth-protected-resource/mcp": () => ({
      resource: "https://mcp.example/mcp",
      authorization_servers: ["https://auth.example"],
    }),
    "https://auth.example/.well-known/oauth-authorization-server": () => ({
      issuer: "https://auth.example",
      authorization_endpoint: "https://auth.example/authorize",
      token_endpoint: "https://auth.example/token",
      registration_endpoint: "https://auth.example/register",
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
    }),
    "https://auth.example/register": () => ({
      client_id: "client 1",
      client_secret: "secret 1",
      redirect_uris: ["http://127.0.0.1/callback"],
      token_endpoint_auth_method: "client_secret_basic",
    }),
    "https://auth.example/token": ({ headers }) => {
      received.push(headers.get("authorization") ?? "none");
      return { access_token: "granted", token_type: "Bearer" };
    },
  };
  const leaked: string[] = [];
  const fetch = (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input, init);
    if (!request.url.startsWith("https://mcp.example/")) {
      for (const [name, value] of request.headers) {
        if (/Key 1|X 2/.test(value)) leaked.push(`${request.url} ${name}`);
      }
    }
    const answer = answers[request.url]?.(request) ?? new Response(null, { status: 404 });
    return Promise.resolve(answer instanceof Response ? answer : Response.json(answer));
  };
  const headers = { "X-Api-Key": "Key 1", "x-other": "X 2" };
  const config = { mcpServers: { mock: { url: "https://mcp.example/mcp", headers } } };
  const oauth = { provider: new MemoryProvider(), awaitRedirect: redirect };
  await using mcp = await connectMcp(config, {
    clientPackage,
    fetch,
    servers: { mock: { oauth } },
  });
  assertEquals(mcp.servers.length, 1);
  assertEquals(leaked, []);
  assertEquals(received, [`Basic ${btoa("client 1:secret 1")}`]);
});

/** Resolves when the only server has a state. */
async function untilState(
  mcp: Awaited<ReturnType<typeof connectMcp>>,
  type: McpServerStatus["state"]["type"],
): Promise<void> {
  await waitUntil(() => mcp.servers[0]?.state.type === type);
}

const CALLBACK = "http://127.0.0.1/callback?code=code%201&state=state%201";

for (const methods of [["tools/call"], ["tools/list", "tools/call"]]) {
  Deno.test(`OAuth: a server that protects only ${methods.join(" and ")} gets an authorization`, async () => {
    await using server = createProtectedServer(undefined, { methods });
    const provider = new MemoryProvider();
    const oauth = { provider, awaitRedirect: () => Promise.resolve(CALLBACK) };
    const config = { mcpServers: { mock: { url: server.url } } };
    await using mcp = await connectMcp(config, { clientPackage, servers: { mock: { oauth } } });
    const isRefused = methods.length === 1;
    if (isRefused) {
      assertStringIncludes(getText(await callTool(mcp)), "requires an authorization by the user");
      await untilState(mcp, "ready");
    }
    assertEquals(getText(await callTool(mcp)), "hello");
    assertEquals([provider.redirects, mcp.servers[0]?.restarts], [1, 0]);
  });
}

Deno.test("OAuth: calls that are refused at the same time send the user to one page, and calls wait for the user", async () => {
  let token = "granted";
  await using server = createProtectedServer(undefined, { getToken: () => token });
  const provider = new MemoryProvider();
  const redirects = [createDeferred<string>(), createDeferred<string>(), createDeferred<string>()];
  let count = 0;
  const awaitRedirect = () => redirects[count++]?.promise ?? Promise.reject(new Error("refused"));
  redirects[0]?.resolve(CALLBACK);
  const config = { mcpServers: { mock: { url: server.url } } };
  const options = { clientPackage, servers: { mock: { oauth: { provider, awaitRedirect } } } };
  await using mcp = await connectMcp(config, options);
  assertEquals(getText(await callTool(mcp)), "hello");

  token = "another";
  const refused = await Promise.all([callTool(mcp), callTool(mcp), callTool(mcp)]);
  for (const result of refused) {
    assertStringIncludes(getText(result), "requires an authorization by the user");
  }
  await untilState(mcp, "authorizing");
  assertStringIncludes(getText(await callTool(mcp)), "waits until the user authorizes");
  redirects[1]?.resolve(CALLBACK);
  await untilState(mcp, "ready");
  assertEquals(getText(await callTool(mcp)), "hello");
  assertEquals([provider.redirects, count], [2, 2]);

  token = "a third one";
  await callTool(mcp);
  redirects[2]?.resolve("http://127.0.0.1/callback?error=access_denied&state=state%201");
  await untilState(mcp, "failed");
  assertEquals([provider.redirects, count], [3, 3]);
});

Deno.test("OAuth: a restart ends an authorization that the user has abandoned, and begins another one", async () => {
  let token = "granted";
  await using server = createProtectedServer(undefined, { getToken: () => token });
  const provider = new MemoryProvider();
  const signals: AbortSignal[] = [];
  let isAbandoned = true;
  const awaitRedirect = ({ signal }: { readonly signal: AbortSignal }) => {
    signals.push(signal);
    return isAbandoned ? new Promise<never>(() => {}) : redirect();
  };
  await using mcp = await server.connect({
    waitMs: 1,
    servers: { mock: { oauth: { provider, awaitRedirect } } },
  });
  await untilState(mcp, "authorizing");
  isAbandoned = false;
  await mcp.restart("mock");
  assertEquals(signals.map(({ aborted }) => aborted), [true, false]);
  assertEquals(getText(await callTool(mcp)), "hello");

  isAbandoned = true;
  token = "another";
  await callTool(mcp);
  await untilState(mcp, "authorizing");
  isAbandoned = false;
  await mcp.restart("mock");
  assertEquals(signals.slice(2).map(({ aborted }) => aborted), [true, false]);
  assertEquals(getText(await callTool(mcp)), "hello");
});
