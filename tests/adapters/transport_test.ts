import { assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { connect } from "../../adapters/connect.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createOllama } from "../../adapters/ollama/mod.ts";
import { createOpenAI, type OpenAIOptions } from "../../adapters/openai/mod.ts";
import type { AgentError } from "../../src/core/errors/errors.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch, type ReplayFixture } from "../../src/testing/replay_fetch.ts";
import { getUnusedUrl, serveLoopback } from "./loopback.ts";
import { createMinimalRequest } from "./wire_tests.ts";

const REPLY = 'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n';
const PAGE = { headers: { "content-type": "text/html" }, body: "<html></html>" };

function call(options: OpenAIOptions) {
  return readReply(createOpenAI({ api: "chat", ...options })(createMinimalRequest("acme", "m")));
}

/** Calls a server whose `fetch` rejects, and returns the error. */
async function fail(cause: unknown, options: OpenAIOptions = {}): Promise<AgentError | undefined> {
  const fetch = () => Promise.reject(cause);
  return (await call({ fetch, baseUrl: "https://api.example/v1", ...options })).error;
}

/** An error of `fetch` in Node: the reason is in its cause. */
function createFetchError(code: string, message = ""): TypeError {
  return new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) });
}

Deno.test("adapters: the error of a failed connection names host, port and reason", async () => {
  const reasons = {
    ECONNREFUSED: "connection refused",
    ENOTFOUND: "the host name could not be resolved",
    ECONNRESET: "connection reset",
    UND_ERR_CONNECT_TIMEOUT: "connection timed out",
    UND_ERR_SOCKET: "the server closed the connection without a response",
    EHOSTUNREACH: "the host is unreachable",
    ERR_SSL_WRONG_VERSION_NUMBER:
      "the TLS handshake failed, as at a server without TLS (an http: URL)",
  };
  for (const [code, reason] of Object.entries(reasons)) {
    const error = await fail(createFetchError(code));
    assertEquals(error?.message, `acme: request to api.example:443 failed: ${reason}`);
    assertEquals([error?.code, error?.retryable], ["network_error", true]);
  }
  const error = await fail(createFetchError("CERT_HAS_EXPIRED", "certificate has expired"));
  assertStringIncludes(error?.message ?? "", "rejected (CERT_HAS_EXPIRED certificate has expired)");
});

Deno.test("adapters: the error of a failed connection to several addresses has the reason of the first", async () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED ::1:80"), { code: "ECONNREFUSED" });
  const cause = new AggregateError([refused], "");
  const error = await fail(new TypeError("fetch failed", { cause }));
  assertStringIncludes(error?.message ?? "", "connection refused");
});

Deno.test("adapters: an unknown reason is the message of the innermost causes, without the key", async () => {
  const cause = new Error("proxy answered to sk-test: no", { cause: new Error("quota") });
  const error = await fail(new TypeError("fetch failed", { cause }));
  assertEquals(
    error?.message,
    "acme: request to api.example:443 failed: proxy answered to [redacted]: no: quota",
  );
});

Deno.test("adapters: a refused connection and an unknown host are explained", async () => {
  const baseUrl = getUnusedUrl();
  const { error } = await call({ baseUrl: `${baseUrl}/v1` });
  assertEquals(
    error?.message,
    `acme: request to ${new URL(baseUrl).host} failed: connection refused; ` +
      "check that the server is running and the port is right",
  );
  const ollama = await readReply(
    createOllama({ baseUrl })(createMinimalRequest("ollama", "llama3.2")),
  );
  assertStringIncludes(ollama.error?.message ?? "", "start Ollama with `ollama serve`");
  const unknown = await call({ baseUrl: "http://host.invalid/v1" });
  assertStringIncludes(
    unknown.error?.message ?? "",
    "request to host.invalid:80 failed: the host name could not be resolved",
  );
});

Deno.test("adapters: TLS with a server without TLS is explained", async () => {
  await using server = serveLoopback(() => new Response(""));
  const { error } = await call({ baseUrl: server.url.replace("http:", "https:") });
  assertStringIncludes(error?.message ?? "", "the TLS handshake failed");
});

Deno.test("adapters: a response that is not HTTP is explained", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = listener.accept().then(async (connection) => {
    using closing = connection;
    await closing.read(new Uint8Array(10_000));
    await closing.write(new TextEncoder().encode("SSH-2.0-OpenSSH\r\n\r\n"));
  });
  const { error } = await call({ baseUrl: `http://127.0.0.1:${listener.addr.port}/v1` });
  await serving;
  assertEquals(
    error?.message,
    `acme: request to 127.0.0.1:${listener.addr.port} failed: the server does not answer with ` +
      "HTTP, as one that requires TLS (an https: URL)",
  );
});

Deno.test("adapters: an invalid URL and an invalid key are configuration errors without the key", async () => {
  // A URL without a host, as from an empty variable, would be read as one with the path as its host.
  const hostless = ["http://", "https:", "https:///v1", "HTTP:/v1"];
  for (const baseUrl of ["htp://example/v1", "example", "https://[bad", "ftp://x", ...hostless]) {
    const { error } = await call({ baseUrl });
    assertEquals([error?.code, error?.retryable], ["bad_request", false], baseUrl);
    assertStringIncludes(error?.message ?? "", "acme: the URL is invalid");
  }
  for (const apiKey of ["sk-secret\nline", "sk-secret…"]) {
    const request = { ...createMinimalRequest("acme", "m"), options: { apiKey } };
    const { error } = await readReply(createOpenAI({ api: "chat" })(request));
    assertEquals([error?.code, error?.retryable], ["auth_error", false]);
    assertEquals(
      error?.message,
      "acme: the API key contains characters that a header must not contain",
    );
  }
  const { error } = await call({ headers: { "x-team": "a\nb" } });
  assertEquals(error?.code, "bad_request");
  assertStringIncludes(error?.message ?? "", 'the header "x-team"');
});

Deno.test("adapters: a failed apiKey function is an auth_error", async () => {
  const request = { ...createMinimalRequest("acme", "m"), options: {} };
  const apiKey = () => Promise.reject(new Error("vault is locked"));
  const { error } = await readReply(createOpenAI({ apiKey, api: "chat" })(request));
  assertEquals(error?.code, "auth_error");
  assertStringIncludes(error?.message ?? "", "vault is locked");
});

for (const status of [301, 302, 303, 307, 308]) {
  Deno.test(`adapters: a redirect (${status}) to another origin is refused, and the key is not sent`, async () => {
    const leaked: string[] = [];
    await using other = serveLoopback(async (request) => {
      leaked.push(JSON.stringify([...request.headers]) + await request.text());
      return new Response(REPLY);
    });
    await using server = serveLoopback(() =>
      new Response(null, { status, headers: { location: `${other.url}/v1/messages?k=sk-test` } })
    );
    const streamFn = createAnthropic({ baseUrl: server.url });
    const { error } = await readReply(streamFn(createMinimalRequest("acme", "m")));
    assertEquals([error?.code, error?.retryable], ["bad_request", false]);
    assertStringIncludes(error?.message ?? "", `refused a redirect to ${other.url}/v1/messages`);
    assertNotMatch(error?.message ?? "", /sk-test/);
    assertEquals(leaked, []);
  });
}

Deno.test("adapters: a redirect (307, 308) within the origin is followed with the body, up to 5 times", async () => {
  const bodies: string[] = [];
  await using server = serveLoopback(async (request) => {
    const { pathname } = new URL(request.url);
    bodies.push(await request.text());
    if (pathname.startsWith("/new")) return new Response(REPLY);
    const location = pathname.startsWith("/loop") ? pathname : "/new/chat/completions";
    return new Response(null, { status: 307, headers: { location } });
  });
  assertEquals((await call({ baseUrl: `${server.url}/old` })).text, "x");
  assertEquals(bodies.length, 2);
  assertEquals(bodies[0], bodies[1]);
  const { error } = await call({ baseUrl: `${server.url}/loop` });
  assertStringIncludes(error?.message ?? "", "more than 5 times");
  assertEquals(bodies.length, 2 + 6);
});

for (const status of [301, 302, 303]) {
  Deno.test(`adapters: a redirect (${status}) within the origin, which turns a request into a query, is refused`, async () => {
    let count = 0;
    await using server = serveLoopback(() => {
      count++;
      return new Response(null, { status, headers: { location: "/new" } });
    });
    const { error } = await call({ baseUrl: server.url });
    assertEquals([error?.code, error?.retryable], ["bad_request", false]);
    assertStringIncludes(error?.message ?? "", `refused a redirect to ${server.url}/new`);
    assertEquals(count, 1);
  });
}

Deno.test("adapters: a redirect without a location is refused, and the request is not sent again", async () => {
  let count = 0;
  await using server = serveLoopback(() => {
    count++;
    return new Response(null, { status: 307 });
  });
  const { error } = await call({ baseUrl: server.url });
  assertStringIncludes(error?.message ?? "", "refused a redirect with status 307");
  assertEquals(count, 1);
});

Deno.test("adapters: the values of headers and of the URL are redacted from errors and from lost connections", async () => {
  const secrets = ["team-secret-1", "cookie-value-1", "short1", "password-of-url", "query-value-1"];
  const options = {
    headers: {
      "x-gateway": "team-secret-1",
      cookie: "session=cookie-value-1; a=b",
      "x-custom-auth": "Token short1",
    },
    baseUrl: "https://user:password-of-url@api.example/v1?sig=query-value-1",
  };
  const text = `rejected ${secrets.join(" and ")}`;
  const fixtures: ReplayFixture[] = [
    { status: 400, body: JSON.stringify({ error: { message: text } }) },
    { body: `data: ${JSON.stringify({ error: { message: text } })}\n\n` },
    { body: `${text}\n` },
    new TypeError(text),
  ];
  for (const fixture of fixtures) {
    const { error } = await call({ ...options, fetch: replayFetch(fixture) });
    const record = JSON.stringify(error);
    for (const secret of secrets) assertEquals(record.includes(secret), false, record);
    assertStringIncludes(record, "[redacted]");
  }
  const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError(text)) });
  const { error } = await call({ ...options, fetch: () => Promise.resolve(new Response(body)) });
  assertStringIncludes(error?.message ?? "", "connection lost: rejected [redacted]");
  assertEquals(JSON.stringify(error).includes("team-secret-1"), false);
});

Deno.test("adapters: events that are labelled as JSON are read, also after white space", async () => {
  const headers = { "content-type": "application/json" };
  for (const body of [REPLY, `\n \n${REPLY}`]) {
    for (const chunkBytes of [1, 1000]) {
      const fetch = replayFetch({ headers, body }, { chunkBytes });
      assertEquals((await call({ fetch })).text, "x");
    }
  }
  for (const body of ["", "{}", "[]"]) {
    const { error } = await call({ fetch: replayFetch({ headers, body }) });
    assertEquals(error?.code, body === "" ? "network_error" : "stream_error");
  }
});

Deno.test("adapters: a body that is labelled as JSON and sends nothing ends at the idle timeout and on abort", async () => {
  const headers = { "content-type": "application/json" };
  const fetch = replayFetch({ headers, ending: "hang" });
  const { error } = await call({ fetch, idleTimeoutMs: 5 });
  assertEquals(error?.message, "acme: no data received for 5 ms");
  const controller = new AbortController();
  const request = { ...createMinimalRequest("acme", "m"), signal: controller.signal };
  const reading = readReply(createOpenAI({ api: "chat", fetch })(request));
  controller.abort();
  assertEquals((await reading).stopReason, "aborted");
});

Deno.test("createOpenAI(): a base URL without a path is tried with /v1, and a warning names the right one", async () => {
  const answers: ReplayFixture[] = [
    { status: 404, body: '{"detail":"Not Found"}' },
    { status: 405, body: "" },
    { headers: { "content-type": "application/json" }, body: '{"error":"Unexpected endpoint"}' },
    PAGE,
  ];
  for (const answer of answers) {
    const fetch = replayFetch([answer, REPLY, REPLY]);
    const streamFn = createOpenAI({ api: "chat", fetch, baseUrl: "http://localhost:1234/" });
    const first = await readReply(streamFn(createMinimalRequest("acme", "m")));
    const second = await readReply(streamFn(createMinimalRequest("acme", "m")));
    assertEquals([first.text, second.text], ["x", "x"]);
    const codes = first.warnings.map(({ code }) => code);
    assertEquals(codes.includes("base_url_without_path"), true);
    assertEquals(second.warnings, []);
    assertEquals(fetch.requests.map(({ url }) => new URL(url).pathname), [
      "/chat/completions",
      "/v1/chat/completions",
      "/v1/chat/completions",
    ]);
  }
});

Deno.test("createOpenAI(): keeps the first error when there is no API at /v1 either, and a base URL with a path", async () => {
  const fetch = replayFetch([{ status: 404, body: "first" }, { status: 404, body: "second" }]);
  const { error } = await call({ fetch, baseUrl: "http://localhost:1234" });
  assertStringIncludes(error?.message ?? "", "first");
  const withPath = replayFetch([{ status: 404, body: "first" }]);
  await call({ fetch: withPath, baseUrl: "http://localhost:1234/api" });
  assertEquals(withPath.requests.length, 1);
});

Deno.test("connect(): providers or a provider that are null or undefined have no options", async () => {
  const groups = [null, undefined, { groq: null, acme: null }, { groq: undefined }];
  for (const providers of groups) {
    const streamFn = connect({
      fetch: replayFetch(REPLY),
      env: () => "sk-test",
      // As an untyped caller may pass it.
      providers: providers as never,
    });
    assertEquals((await readReply(streamFn(createMinimalRequest("groq", "m")))).text, "x");
    const { error } = await readReply(streamFn(createMinimalRequest("acme", "m")));
    assertEquals(error?.code, "bad_request");
  }
});

Deno.test("createGoogle(): a base URL without a path is tried with /v1beta, and a warning names the right one", async () => {
  const reply =
    'data: {"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}\n\n';
  const fetch = replayFetch([{ status: 404, body: "Not Found" }, reply, reply]);
  const streamFn = createGoogle({ fetch, baseUrl: "https://gateway.example/" });
  const first = await readReply(streamFn(createMinimalRequest("google", "gemini-3.8-flash")));
  const second = await readReply(streamFn(createMinimalRequest("google", "gemini-3.8-flash")));
  assertEquals([first.text, second.text], ["x", "x"]);
  assertEquals(
    first.warnings.find(({ code }) => code === "base_url_without_path")?.message,
    "Add /v1beta to the baseUrl: the server has its API there",
  );
  const path = "models/gemini-3.8-flash:streamGenerateContent?alt=sse";
  assertEquals(fetch.requests.map(({ url }) => url), [
    `https://gateway.example/${path}`,
    `https://gateway.example/v1beta/${path}`,
    `https://gateway.example/v1beta/${path}`,
  ]);
});

Deno.test("all providers: a base URL may end with the path of the API, as when it is copied", async () => {
  const urls = [
    ["openai", "v1/chat/completions", "v1/chat/completions"],
    ["openai", "v1/responses", "v1/chat/completions"],
    ["mistral", "v1/chat/completions?x=1", "v1/chat/completions?x=1"],
    ["lab", "api/v1/chat/completions/", "api/v1/chat/completions"],
    ["anthropic", "v1/messages", "v1/messages"],
    ["anthropic", "v1", "v1/messages"],
    ["google", "v1beta/models", "v1beta/models/m:streamGenerateContent?alt=sse"],
    ["ollama", "api/chat", "api/chat"],
  ] as const;
  for (const [provider, path, expected] of urls) {
    const fetch = replayFetch({ status: 500 });
    const providers = { [provider]: { baseUrl: `https://host.example/${path}` } };
    await readReply(connect({ fetch, providers })(createMinimalRequest(provider, "m")));
    assertEquals(fetch.requests[0]?.url, `https://host.example/${expected}`);
  }
});
