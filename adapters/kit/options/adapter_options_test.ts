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

Deno.test("resolveSettings(): a server on this device has more time until it answers", () => {
  const getTimeout = (baseUrl: string, connectTimeoutMs?: number) =>
    resolveSettings({ baseUrl, connectTimeoutMs }, "").connectTimeoutMs;
  for (const host of ["localhost:11434", "127.0.0.1:8080/v1", "[::1]:1234", "0.0.0.0:8000"]) {
    assertEquals(getTimeout(`http://${host}`), 600_000, host);
  }
  for (const url of ["https://localhost.example", "https://api.example/127.0.0.1", ""]) {
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
