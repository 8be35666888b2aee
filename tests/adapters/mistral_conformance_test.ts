import { createMistral } from "../../adapters/mistral/mod.ts";
import { testStreamFn } from "../../src/testing/stream_conformance.ts";
import type { ExpectedReply } from "../../src/testing/stream_fixture.ts";
import { loadFixtures } from "./fixture_files.ts";

const EXPECTED: Readonly<Record<string, ExpectedReply>> = {
  text: {
    text: "Grüezi, Welt 👋",
    stopReason: "stop",
    usage: { input: 43, output: 14, cacheRead: 128, cacheWrite: 0, total: 185 },
  },
  whole_calls: {
    calls: [
      { name: "read_file", arguments: { path: "ü" } },
      { name: "list_all", arguments: {} },
    ],
    stopReason: "tool_use",
  },
  calls_in_pieces: { calls: [{ name: "read_file", arguments: { path: "a" } }] },
  thinking: { thinking: "The user adds.", text: "2 + 2 = 4", stopReason: "stop" },
  model_length: { text: "One, two", stopReason: "length" },
  null_usage: { text: "It is.", stopReason: "stop", usage: { total: 185 } },
  error_finish: { text: "Half a", errorCode: "network_error" },
  error_event: { text: "Half a", errorCode: "model_throttled" },
};

testStreamFn(Deno.test, "mistral", (fetch, limits) => createMistral({ fetch, ...limits }), {
  model: { provider: "mistral", modelId: "mistral-medium-latest", thinkingLevel: "off" },
  replies: loadFixtures("mistral", EXPECTED),
  errors: [
    {
      name: "an invalid key",
      status: 401,
      body: '{"message":"Unauthorized","request_id":"933f233947ff6d346065bb297e4a4d56"}',
      expect: { code: "auth_error", retryable: false },
    },
    {
      name: "too many requests",
      status: 429,
      body: '{"message":"Requests rate limit exceeded"}',
      expect: { code: "model_throttled", retryable: true },
    },
    {
      name: "a context overflow",
      status: 400,
      body:
        '{"object":"error","message":"Prompt contains 40960 tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","param":null,"code":null}',
      expect: { code: "context_window_overflow", retryable: false },
    },
    {
      name: "an unknown model",
      status: 400,
      body:
        '{"object":"error","message":"Invalid model: mistral-huge","type":"invalid_model","param":null,"code":"1500"}',
      expect: { code: "model_not_found", retryable: false },
    },
    {
      name: "an invalid request",
      status: 422,
      body:
        '{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}',
      expect: { code: "bad_request", retryable: false },
    },
  ],
});
