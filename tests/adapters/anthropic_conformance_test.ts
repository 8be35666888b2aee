import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { testStreamFn } from "../../src/testing/stream_conformance.ts";
import type { ExpectedReply } from "../../src/testing/stream_fixture.ts";
import { loadFixtures } from "./fixture_files.ts";

const EXPECTED: Readonly<Record<string, ExpectedReply>> = {
  text: {
    text: "Grüezi, Welt 👋 !",
    thinking: "",
    calls: [],
    stopReason: "stop",
    usage: { input: 12, output: 30, cacheRead: 100, cacheWrite: 50, total: 192 },
  },
  two_texts: { text: "One.Two.", stopReason: "stop" },
  tool_calls: {
    text: "Let me look.",
    calls: [
      { name: "read_file", arguments: { path: "a b/ü.txt" } },
      { name: "list_all", arguments: {} },
    ],
    stopReason: "tool_use",
    usage: { output: 57 },
  },
  thinking: {
    thinking: "The user wants a file.",
    calls: [{ name: "read_file", arguments: { path: "x" } }],
    stopReason: "tool_use",
    usage: { output: 80, extra: { reasoning: 40 } },
  },
  length_in_tool: {
    calls: [
      { name: "write_file", arguments: { path: "a" } },
      { name: "write_file", arguments: {} },
    ],
    stopReason: "length",
  },
  refusal: { text: "I", errorCode: "content_filtered" },
  server_tool: { text: "Found.", calls: [], stopReason: "stop" },
  overloaded: { text: "Half a", errorCode: "network_error" },
};

testStreamFn(Deno.test, "anthropic", (fetch, limits) => createAnthropic({ fetch, ...limits }), {
  model: { provider: "anthropic", modelId: "claude-sonnet-5-5", thinkingLevel: "off" },
  replies: loadFixtures("anthropic", EXPECTED),
  errors: [
    {
      name: "a wrong key",
      status: 401,
      body:
        '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
      expect: { code: "auth_error", retryable: false },
    },
    {
      name: "too many requests, with a retry delay",
      status: 429,
      headers: { "retry-after": "42" },
      body: '{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}',
      expect: { code: "model_throttled", retryable: true, retryAfterMs: 42_000 },
    },
    {
      name: "too many requests, without a retry delay",
      status: 429,
      body: '{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}',
      expect: { code: "model_throttled", retryable: true },
    },
    {
      name: "an overloaded provider",
      status: 529,
      body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      expect: { code: "network_error", retryable: true },
    },
    {
      name: "a prompt that is too long",
      status: 400,
      body:
        '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210510 tokens > 200000 maximum"}}',
      expect: { code: "context_window_overflow", retryable: false },
    },
    {
      name: "an invalid request",
      status: 400,
      body:
        '{"type":"error","error":{"type":"invalid_request_error","message":"messages: at least one message is required"}}',
      expect: { code: "bad_request", retryable: false },
    },
  ],
});
