import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../mod.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { createAgentServer } from "../../src/server/mod.ts";
import { createRoutes } from "../../src/server/operations/routes.ts";
import { PAGE_ROUTES } from "../../src/server/page/page_routes.ts";
import { reply, scriptedStream } from "../../src/testing/mod.ts";
import { ORIGIN, TestServer, TOKENS } from "./server_fixture.ts";

const SECRET = "the secret title";
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PROPFIND"];
const routes = createRoutes(PAGE_ROUTES);

/** The only routes without a token; they have nothing of a session. */
const PUBLIC = ["/", "/page.css", "/page.js", "/health", "/ready"];

/** Other ways to write a path, and paths near it. */
function vary(path: string): string[] {
  const encoded = Array.from(
    path,
    (character) =>
      character === "/" ? "/" : `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  ).join("");
  return [
    path,
    encoded,
    encoded.toUpperCase(),
    path.toUpperCase(),
    `${path}/`,
    `/${path}`,
    `${path}?token=${TOKENS.acme}&access_token=${TOKENS.acme}`,
    `${path}%00`,
    `${path}%2e`,
    `${path};a=b`,
    `/health/..${path}`,
    `/health/%2e%2e${path}`,
    `/health%2f..${path}`,
    `/.${path}`,
    `/${path.slice(1).replaceAll("/", "%2f")}`,
    `/${path.slice(1).replaceAll("/", "\\")}`,
    `${path}/../..`,
  ];
}

Deno.test("server: a caller without a valid token gets nothing, on every route, method and path", async () => {
  const test = new TestServer({
    agent: { streamFn: scriptedStream([reply(SECRET)]) },
    limits: { requestsPerMinute: Infinity },
  });
  const id = await test.create({ id: "victim", title: SECRET });
  await test.prompt(id);
  await test.waitForIdle(id);
  const before = await test.json(200, "GET", `/v1/sessions/${id}/entries?limit=200`);

  const paths = new Set([
    ...routes.map(({ path }) => path.replace("{id}", id)),
    ...["/v1", "/v1/", "/v2/sessions", "/admin", "/.env", "/favicon.ico", "/index.html"],
    ...["/v1/sessions/", "/v1/sessions/%", "/v1/sessions/%ff", `/v1/sessions/${"a".repeat(9000)}`],
    ...[`/v1/sessions/${id}/prompt/x`, `/v1/sessions/${id}%2fevents`, "/%2e%2e/%2e%2e/etc/passwd"],
  ]);
  const authorizations = [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "Bearer undefined",
    `Bearer ${TOKENS.acme.slice(0, -1)}`,
    `Bearer ${TOKENS.acme}x`,
    `Bearer ${TOKENS.acme} ${TOKENS.acme}`,
    `Basic ${btoa(`user:${TOKENS.acme}`)}`,
    TOKENS.acme,
  ];
  let count = 0;
  for (const path of [...paths].flatMap(vary)) {
    for (const method of METHODS) {
      const authorization = authorizations[count++ % authorizations.length];
      const hasBody = method !== "GET" && method !== "HEAD";
      const request = new Request(ORIGIN + path, {
        method,
        headers: {
          ...(authorization !== undefined && { authorization }),
          ...(hasBody && { "content-type": "application/json" }),
          cookie: `token=${TOKENS.acme}`,
          "x-forwarded-user": "acme",
          "x-http-method-override": "GET",
        },
        ...(hasBody && { body: JSON.stringify({ text: "Hello", decisions: {} }) }),
      });
      const { pathname } = new URL(request.url);
      const response = await test.server.fetch(request, { remoteAddr: { hostname: "127.0.0.1" } });
      const text = await response.text();
      const label = `${method} ${path} (${authorization}): ${response.status} ${
        text.slice(0, 200)
      }`;
      assert(!text.includes(SECRET) && !text.includes(id), label);
      if (response.status === 401) {
        assertEquals(response.headers.get("www-authenticate"), "Bearer");
        assert(JSON.parse(text).error.code === "unauthorized", label);
        continue;
      }
      assert(!hasBody && response.status === 200, label);
      assert(PUBLIC.includes(decodeURIComponent(pathname)), label);
    }
  }
  assert(count > 3_500);
  assertEquals(await test.json(200, "GET", `/v1/sessions/${id}/entries?limit=200`), before);
  await test.server.close();
});

Deno.test("server: HEAD is answered for public paths without a token, and for no others", async () => {
  const test = new TestServer();
  for (const path of PUBLIC) {
    const { status, body } = await test.call("HEAD", path, { token: "" });
    await body?.cancel();
    assertEquals([path, status], [path, 200]);
  }
  const { status, body } = await test.call("HEAD", "/v1/sessions");
  await body?.cancel();
  assertEquals(status, 405);
  await test.server.close();
});

Deno.test("server: a caller with a token gets 404 for unknown paths and 405 for other methods", async () => {
  const test = new TestServer({ limits: { requestsPerMinute: Infinity } });
  for (
    const path of ["/v1", "/v1/sessions/", "/v1/sessions/%ff", "/v2/sessions", "//v1/sessions"]
  ) {
    const { error } = await test.json(404, "GET", path);
    assertEquals(error.code, "not_found");
  }
  const response = await test.call("PUT", "/v1/sessions");
  assertEquals([response.status, response.headers.get("allow")], [405, "POST, GET"]);
  await response.body?.cancel();
  await test.server.close();
});

Deno.test("server: without authentication only callers on this machine are accepted, and no proxy", async () => {
  const server = createAgentServer({
    store: new InMemorySessionStore(),
    createAgent: () => new Agent({ model: "test/model", streamFn: scriptedStream([]) }),
  });
  const call = async (hostname: string | undefined, headers: Record<string, string> = {}) => {
    const connection = hostname === undefined ? undefined : { remoteAddr: { hostname } };
    const request = new Request(`${ORIGIN}/v1/sessions`, { headers });
    const response = await server.fetch(request, connection);
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await call("127.0.0.1"), 200);
  assertEquals(await call("::1"), 200);
  assertEquals(await call("::ffff:127.0.0.1"), 200);
  for (const hostname of [undefined, "", "10.0.0.1", "127.0.0.1.example.com", "128.0.0.1"]) {
    assertEquals(await call(hostname), 401, String(hostname));
  }
  const forwarding = ["x-forwarded-for", "forwarded", "via", "x-real-ip", "cf-connecting-ip"];
  for (const name of forwarding) assertEquals(await call("127.0.0.1", { [name]: "x" }), 401);
  await server.close();
});

Deno.test("server: an authentication that fails or hangs rejects the request", async () => {
  const failing = new TestServer({
    authenticate: () => {
      throw new Error("secret");
    },
  });
  const { error } = await failing.json(503, "GET", "/v1/sessions");
  assertEquals(error.code, "authentication_failed");
  const hanging = new TestServer({
    authenticate: () => new Promise(() => {}),
    authenticateTimeoutMs: 1,
  });
  await hanging.json(503, "GET", "/v1/sessions");
  for (const value of [true, "acme", null, 1]) {
    const wrong = new TestServer({ authenticate: () => value as never });
    await wrong.json(401, "GET", "/v1/sessions");
  }
});

Deno.test("server: web pages of other origins and names are rejected, allowed ones are accepted", async () => {
  const test = new TestServer({
    allowedOrigins: ["https://app.example.com"],
    allowedHosts: ["agents.example.com"],
  });
  const hosts: [string, number][] = [
    ["http://localhost:1", 200],
    ["http://127.0.0.1", 200],
    ["http://[::1]:8787", 200],
    ["https://agents.example.com", 200],
    ["http://agents.example.com:81", 421],
    ["http://rebound.example", 421],
    ["http://localhost.evil.example", 421],
    ["http://127.0.0.1.nip.io", 421],
  ];
  for (const [host, status] of hosts) {
    const response = await test.call("GET", `${host}/v1/sessions`);
    await response.body?.cancel();
    assertEquals(response.status, status, host);
  }
  const rebound = await test.call("GET", "/v1/sessions", { headers: { host: "evil.example" } });
  await rebound.body?.cancel();
  const origins: [string, number, string | null][] = [
    ["https://app.example.com", 200, "https://app.example.com"],
    [ORIGIN, 200, null],
    ["http://localhost:9999", 403, null],
    ["https://evil.example", 403, null],
    ["null", 403, null],
    ["https://app.example.com.evil.example", 403, null],
  ];
  for (const [origin, status, allowed] of origins) {
    const response = await test.call("GET", "/v1/sessions", { headers: { origin } });
    await response.body?.cancel();
    assertEquals(response.status, status, origin);
    assertEquals(response.headers.get("access-control-allow-origin"), allowed, origin);
  }
  const preflight = (origin: string) =>
    test.call("OPTIONS", "/v1/sessions", { token: "", headers: { origin } });
  const accepted = await preflight("https://app.example.com");
  assertEquals(accepted.status, 204);
  assertEquals(accepted.headers.get("access-control-allow-methods"), "POST, GET");
  const rejected = await preflight("https://evil.example");
  await rejected.body?.cancel();
  assertEquals(rejected.status, 403);
  assertEquals(rejected.headers.get("access-control-allow-methods"), null);
  await test.server.close();
});
