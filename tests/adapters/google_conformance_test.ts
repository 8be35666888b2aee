import { createGoogle } from "../../adapters/google/mod.ts";
import { testStreamFn } from "../../src/testing/stream_conformance.ts";
import type { ExpectedReply } from "../../src/testing/stream_fixture.ts";
import { loadFixtures } from "./fixture_files.ts";

const EXPECTED: Readonly<Record<string, ExpectedReply>> = {
  text: {
    text: "Grüezi, Welt 👋",
    thinking: "",
    calls: [],
    stopReason: "stop",
    usage: {
      input: 20,
      output: 50,
      cacheRead: 100,
      cacheWrite: 0,
      total: 170,
      extra: { reasoning: 30 },
    },
  },
  line_feeds: { text: "Yes.", stopReason: "stop" },
  thinking: { thinking: "**Looking**\n\nI look.", text: "It is so.", stopReason: "stop" },
  signed_first: { text: "It is so.", stopReason: "stop" },
  // Calls without ids are separate calls, even with equal names.
  tool_calls: {
    text: "Let me look.",
    calls: [
      { name: "read_file", arguments: { path: "ü" } },
      { name: "read_file", arguments: { path: "ü" } },
      { name: "list_all", arguments: {} },
    ],
    stopReason: "tool_use",
  },
  call_without_arguments: {
    calls: [{ name: "list_all", arguments: {} }],
    stopReason: "tool_use",
  },
  // [A135] A repeated call replaces the earlier arguments; one without arguments clears them.
  call_replaced: { calls: [{ name: "count", arguments: { b: 2 } }], stopReason: "tool_use" },
  null_arguments: { calls: [{ name: "count", arguments: {} }], stopReason: "tool_use" },
  calls_at_one_place: {
    text: "Two.",
    calls: [{ name: "count", arguments: { a: 1 } }, { name: "count", arguments: { b: 2 } }],
    stopReason: "tool_use",
  },
  call_in_pieces: {
    calls: [
      {
        name: "write_file",
        arguments: {
          path: "a/b.txt",
          lines: [{ text: "one", number: 1 }, { text: "two" }],
          keep: true,
          mode: null,
        },
      },
      { name: "list_all", arguments: {} },
    ],
    stopReason: "tool_use",
  },
  // [A135] The stop reason is the token limit, even after a call.
  length: {
    text: "One, two",
    calls: [{ name: "count", arguments: { a: 1 } }],
    stopReason: "length",
  },
  length_in_call: {
    calls: [{ name: "count", arguments: { a: 1 } }, { name: "write_file", arguments: {} }],
    stopReason: "length",
  },
  safety: { text: "Half a", errorCode: "content_filtered" },
  recitation: { text: "Half a", errorCode: "content_filtered" },
  blocked: { text: "", errorCode: "content_filtered" },
  malformed_call: { thinking: "I call.", errorCode: "stream_error" },
  other: { text: "Half a", errorCode: "stream_error" },
  unknown_reason: { text: "Whole.", stopReason: "stop" },
  error_event: { text: "Half a", errorCode: "network_error" },
  bare_error_one_line: { text: "Half a", errorCode: "model_throttled" },
  no_reason: { text: "Half a", errorCode: "network_error" },
  own_tools: { text: "I compute.It is 28.", calls: [], stopReason: "stop" },
};

testStreamFn(Deno.test, "google", (fetch, limits) => createGoogle({ fetch, ...limits }), {
  model: { provider: "google", modelId: "gemini-3.8-flash", thinkingLevel: "off" },
  replies: loadFixtures("google", EXPECTED),
  errors: [
    {
      name: "a wrong key (400 instead of 401)",
      status: 400,
      body:
        '{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}',
      expect: { code: "auth_error", retryable: false },
    },
    {
      name: "too many requests, with a retry delay in the body",
      status: 429,
      body:
        '{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 34.4s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}]}}',
      expect: { code: "model_throttled", retryable: true, retryAfterMs: 34_400 },
    },
    {
      name: "an exhausted daily quota",
      status: 429,
      body:
        '{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 40s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"40s"}]}}',
      expect: { code: "model_throttled", retryable: false, retryAfterMs: 40_000 },
    },
    {
      name: "a prompt that is too long",
      status: 400,
      body:
        '{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed 1048576.","status":"INVALID_ARGUMENT"}}',
      expect: { code: "context_window_overflow", retryable: false },
    },
    {
      name: "an unknown model",
      status: 404,
      body:
        '{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.","status":"NOT_FOUND"}}',
      expect: { code: "model_not_found", retryable: false },
    },
    {
      name: "an overloaded model",
      status: 503,
      body:
        '{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}',
      expect: { code: "network_error", retryable: true },
    },
    {
      name: "a call without its signature",
      status: 400,
      body:
        '{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}',
      expect: { code: "bad_request", retryable: false },
    },
  ],
});
