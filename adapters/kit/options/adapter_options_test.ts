import { assertEquals } from "@std/assert";
import { findApiKey, hasKeyHeader, resolveSettings } from "./adapter_options.ts";

/** A base URL as it is written, and its URL and query. */
const URLS: readonly (readonly [baseUrl: string, url: string, query?: string])[] = [
  [" https://a.example/v1/ ", "https://a.example/v1"],
  ["https://a.example/v1///", "https://a.example/v1"],
  ["https://a.example/v1#section", "https://a.example/v1"],
  ["https://a.example/v1/?key=a&b#c", "https://a.example/v1", "key=a&b"],
  ["", ""],
];

Deno.test("resolveSettings(): removes blanks, slashes at the end, fragment and query from the base URL", () => {
  for (const [baseUrl, url, query] of URLS) {
    const settings = resolveSettings({ baseUrl }, "https://default.example");
    assertEquals([settings.baseUrl, settings.query], [url, query], baseUrl);
  }
  assertEquals(resolveSettings({}, "https://default.example/").baseUrl, "https://default.example");
});

Deno.test("resolveSettings(): a server on this device or in a private network has more time until it answers", () => {
  const getTimeout = (baseUrl: string, connectTimeoutMs?: number) =>
    resolveSettings({ baseUrl, connectTimeoutMs }, "").connectTimeoutMs;
  const device = ["localhost:11434", "127.0.0.1:8080/v1", "[::1]:1234", "0.0.0.0:8000"];
  const addresses = ["10.0.0.7:8000", "192.168.1.5:11434", "172.20.0.2", "[fd12::1]:80"];
  const names = ["ollama:11434", "host.docker.internal:1234", "studio.local", "gpu.lan/v1"];
  for (const host of [...device, ...addresses, ...names]) {
    assertEquals(getTimeout(`http://${host}`), 600_000, host);
    assertEquals(getTimeout(host), 600_000, host);
  }
  const others = ["api.example", "172.32.0.1", "8.8.8.8:80", "[2001:db8::1]", "localhost.example"];
  for (const url of [...others.map((host) => `https://${host}/10.0.0.7`), ...others, "/api", ""]) {
    assertEquals(getTimeout(url), 120_000, url);
  }
  assertEquals(getTimeout("http://localhost:1", 5), 5);
});

Deno.test("hasKeyHeader(): recognizes the headers of all providers in any case", () => {
  for (const name of ["Authorization", "x-api-key", "API-Key", "X-Goog-Api-Key"]) {
    assertEquals(hasKeyHeader({ headers: { [name]: "k" } }), true, name);
  }
  assertEquals(hasKeyHeader({ headers: { "x-team": "k" } }), false);
});

Deno.test("findApiKey(): the key of the request comes first, and blank keys are none", async () => {
  const findKey = (requestKey: string | undefined, key: string | (() => string) | undefined) =>
    findApiKey({
      model: { provider: "acme", modelId: "m", thinkingLevel: "off" },
      context: { systemPrompt: "", messages: [], tools: [] },
      options: requestKey === undefined ? {} : { apiKey: requestKey },
      signal: new AbortController().signal,
    }, key);
  assertEquals(await findKey(" request\n", "adapter"), "request");
  assertEquals(await findKey(" ", "adapter\n"), "adapter");
  assertEquals(await findKey(undefined, () => " function "), "function");
  assertEquals(await findKey("", " "), undefined);
  assertEquals(await findKey(undefined, undefined), undefined);
});
