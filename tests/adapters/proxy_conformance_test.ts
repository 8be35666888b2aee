import { createProxy } from "../../adapters/proxy/mod.ts";
import { testStreamFn } from "../../src/testing/stream_conformance.ts";
import { loadFixtures } from "./fixture_files.ts";

const toErrorJson = (code: string, message: string) => JSON.stringify({ error: { code, message } });

testStreamFn(
  Deno.test,
  "proxy",
  (fetch, limits) => createProxy({ baseUrl: "https://proxy.example/agent", fetch, ...limits }),
  {
    model: { provider: "anthropic", modelId: "claude-sonnet-5-5", thinkingLevel: "off" },
    replies: loadFixtures("proxy", {
      text: {
        text: "Grüezi, Welt 👋",
        thinking: "",
        calls: [],
        stopReason: "stop",
        usage: { input: 10, output: 20, cacheRead: 3, total: 33 },
      },
      tool_calls: {
        text: "Let me look.",
        calls: [
          { name: "read_file", arguments: { path: "a b/ü.txt" } },
          { name: "list_all", arguments: {} },
        ],
        stopReason: "tool_use",
        usage: { input: 10, output: 57, cacheRead: 0, cacheWrite: 0, total: 67 },
      },
      thinking: {
        thinking: "The user wants a greeting.",
        text: "Hello.",
        usage: { extra: { reasoning: 5 } },
      },
      length_in_tool: {
        calls: [
          { name: "write_file", arguments: { path: "a" } },
          { name: "write_file", arguments: {} },
        ],
        stopReason: "length",
      },
      overflow: { text: "Half a", errorCode: "context_window_overflow", usage: { input: 4 } },
      crlf: { text: "Hi", stopReason: "stop", usage: { total: 0 } },
    }),
    errors: [
      {
        name: "an invalid token",
        status: 401,
        body: toErrorJson("auth_error", "The proxy does not accept this token"),
        expect: { code: "auth_error", retryable: false },
      },
      {
        name: "a forbidding gateway",
        status: 403,
        body: "<html><title>Forbidden</title></html>",
        expect: { code: "auth_error", retryable: false },
      },
      {
        name: "too many requests",
        status: 429,
        headers: { "retry-after": "7" },
        body: "slow down",
        expect: { code: "model_throttled", retryable: true, retryAfterMs: 7000 },
      },
      {
        name: "a gateway timeout",
        status: 504,
        body: "upstream request timeout",
        expect: { code: "network_error", retryable: true },
      },
      {
        name: "a body over the proxy's limit",
        status: 413,
        body: toErrorJson("bad_request", "The body must not be larger than 10 bytes"),
        expect: { code: "bad_request", retryable: false },
      },
      {
        name: "a wrong URL",
        status: 404,
        body: "Not Found",
        expect: { code: "bad_request", retryable: false },
      },
    ],
  },
);
