import { createOllama } from "../../adapters/ollama/mod.ts";
import { testStreamFn } from "../../src/testing/stream_conformance.ts";
import type { ExpectedReply } from "../../src/testing/stream_fixture.ts";
import { loadFixtures } from "./fixture_files.ts";

const EXPECTED: Readonly<Record<string, ExpectedReply>> = {
  "text.ndjson": {
    text: "Grüezi, Welt 👋",
    thinking: "",
    calls: [],
    stopReason: "stop",
    usage: { input: 26, output: 298, cacheRead: 0, cacheWrite: 0, total: 324 },
  },
  "crlf.ndjson": { text: "Yes.", stopReason: "stop" },
  "thinking.ndjson": { thinking: "The user greets.", text: "Hello!", stopReason: "stop" },
  "thinking_and_text.ndjson": { thinking: "Let me think.", text: "So: yes.", stopReason: "stop" },
  // [A137] Two calls of one tool are two calls.
  "tool_calls.ndjson": {
    text: "Let me look.",
    calls: [
      { name: "read_file", arguments: { path: "ü" } },
      { name: "read_file", arguments: { path: "ü" } },
      { name: "list_all", arguments: {} },
    ],
    stopReason: "tool_use",
  },
  "calls_in_last_line.ndjson": {
    text: "",
    calls: [{ name: "read_file", arguments: { path: "a" } }, { name: "list_all", arguments: {} }],
    stopReason: "tool_use",
  },
  "length.ndjson": { text: "One, two", stopReason: "length" },
  "length_after_tool.ndjson": {
    text: "And",
    calls: [{ name: "read_file", arguments: { path: "a" } }],
    stopReason: "length",
  },
  "cached_prompt.ndjson": { text: "Again.", usage: { input: 0, output: 3, total: 3 } },
  "error_line.ndjson": { text: "Half a", errorCode: "network_error" },
  "error_with_status.ndjson": { text: "", errorCode: "context_window_overflow" },
  "malformed.ndjson": { text: "Half a", errorCode: "stream_error" },
};

testStreamFn(Deno.test, "ollama", (fetch, limits) => createOllama({ fetch, ...limits }), {
  model: { provider: "ollama", modelId: "qwen3:8b", thinkingLevel: "off" },
  replies: loadFixtures("ollama", EXPECTED),
  errors: [
    {
      name: "an unknown model",
      status: 404,
      body: '{"error":"model \'nope\' not found"}',
      expect: { code: "model_not_found", retryable: false },
    },
    {
      name: "a model without thinking",
      status: 400,
      body: '{"error":"\\"llama3.2\\" does not support thinking"}',
      expect: { code: "bad_request", retryable: false },
    },
    {
      name: "a prompt that is too long",
      status: 400,
      body:
        '{"error":"the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the context length in settings, or use a model with a longer context length"}',
      expect: { code: "context_window_overflow", retryable: false },
    },
    {
      name: "a busy server",
      status: 503,
      body: '{"error":"server busy, please try again.  maximum pending requests exceeded"}',
      expect: { code: "network_error", retryable: true },
    },
    {
      name: "a cloud model without a key",
      status: 401,
      body: '{"error":"unauthorized","signin_url":"https://ollama.com/connect"}',
      expect: { code: "auth_error", retryable: false },
    },
    {
      name: "too many requests to a cloud model",
      status: 429,
      headers: { "retry-after": "3" },
      body: '{"error":"too many requests"}',
      expect: { code: "model_throttled", retryable: true, retryAfterMs: 3000 },
    },
  ],
});
