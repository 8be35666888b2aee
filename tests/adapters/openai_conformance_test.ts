import { createOpenAI } from "../../adapters/openai/mod.ts";
import { testStreamFn } from "../../src/testing/stream_conformance.ts";
import type { ErrorFixture, ExpectedReply } from "../../src/testing/stream_fixture.ts";
import { loadFixtures } from "./fixture_files.ts";

const CHAT: Readonly<Record<string, ExpectedReply>> = {
  chat_text: {
    text: "Grüezi, Welt 👋",
    stopReason: "stop",
    usage: {
      input: 12,
      output: 17,
      cacheRead: 30,
      cacheWrite: 0,
      total: 80,
      extra: { reasoning: 5 },
    },
  },
  chat_tool_calls: {
    text: "Let me look.",
    calls: [
      { name: "read_file", arguments: { path: "ü" } },
      { name: "list_all", arguments: {} },
    ],
    stopReason: "tool_use",
  },
  chat_interleaved: {
    calls: [{ name: "first", arguments: { a: 1 } }, { name: "second", arguments: { b: 2 } }],
    stopReason: "tool_use",
  },
  chat_late_name: { calls: [{ name: "late", arguments: { a: 1 } }], stopReason: "tool_use" },
  chat_split_name: { calls: [{ name: "read_file", arguments: { a: 1 } }] },
  chat_whole_calls: {
    calls: [{ name: "one", arguments: { a: 1 } }, { name: "two", arguments: { b: 2 } }],
    stopReason: "tool_use",
  },
  chat_same_index: {
    calls: [{ name: "one", arguments: { a: 1 } }, { name: "two", arguments: { b: 2 } }],
  },
  chat_object_arguments: { calls: [{ name: "one", arguments: { a: 1 } }] },
  chat_length_in_tool: {
    calls: [{ name: "write", arguments: { a: 1 } }, { name: "write", arguments: {} }],
    stopReason: "length",
  },
  chat_reasoning_content: { thinking: "Let me think.", text: "So: yes.", stopReason: "stop" },
  chat_reasoning_details: { thinking: "Hmm.", text: "Yes.", stopReason: "stop" },
  chat_refusal: { text: "", errorCode: "content_filtered" },
  chat_content_filter: { text: "Half", errorCode: "content_filtered" },
  chat_no_reason: { text: "Yes.", stopReason: "stop" },
  chat_no_done: { text: "Yes.", stopReason: "stop" },
  chat_no_done_no_usage: { text: "Yes.", stopReason: "stop" },
  chat_error: { text: "Half", errorCode: "network_error" },
  chat_azure_filters: { text: "Yes.", stopReason: "stop" },
  chat_tool_use_failed: { text: "", errorCode: "bad_request" },
};

const RESPONSES: Readonly<Record<string, ExpectedReply>> = {
  responses_text: {
    text: "Grüezi, Welt 👋",
    stopReason: "stop",
    usage: {
      input: 10,
      output: 17,
      cacheRead: 30,
      cacheWrite: 2,
      total: 59,
      extra: { reasoning: 5 },
    },
  },
  responses_tools: {
    thinking: "First. Second.",
    text: "Let me look.",
    calls: [
      { name: "read_file", arguments: { path: "ü" } },
      { name: "list_all", arguments: {} },
    ],
    stopReason: "tool_use",
  },
  responses_length: {
    calls: [{ name: "write", arguments: { a: 1 } }, { name: "write", arguments: {} }],
    stopReason: "length",
  },
  responses_refusal: { text: "", errorCode: "content_filtered" },
  responses_filter: { text: "Half", errorCode: "content_filtered" },
  responses_overflow: { text: "", errorCode: "context_window_overflow" },
  responses_rate_limit: { text: "", errorCode: "model_throttled" },
  responses_failed: { text: "Half", errorCode: "network_error" },
  responses_web_search: { text: "Found.", calls: [], stopReason: "stop" },
};

const ERRORS: readonly ErrorFixture[] = [
  {
    name: "an invalid key",
    status: 401,
    body:
      '{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}',
    expect: { code: "auth_error", retryable: false },
  },
  {
    name: "too many requests, with a retry delay in the message",
    status: 429,
    body:
      '{"error":{"message":"Rate limit reached. Please try again in 125ms.","type":"tokens","code":"rate_limit_exceeded"}}',
    expect: { code: "model_throttled", retryable: true, retryAfterMs: 125 },
  },
  {
    name: "an exhausted quota",
    status: 429,
    body: '{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}',
    expect: { code: "model_throttled", retryable: false },
  },
  {
    name: "a context overflow",
    status: 400,
    body:
      '{"error":{"message":"This model\'s maximum context length is 8192 tokens.","code":"context_length_exceeded"}}',
    expect: { code: "context_window_overflow", retryable: false },
  },
  {
    name: "an unknown model",
    status: 404,
    body: '{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}',
    expect: { code: "model_not_found", retryable: false },
  },
  {
    name: "a server error",
    status: 500,
    body: '{"error":{"message":"The server had an error","type":"server_error"}}',
    expect: { code: "network_error", retryable: true },
  },
];

const MODEL = { provider: "openai", modelId: "gpt-5", thinkingLevel: "low" } as const;

testStreamFn(
  Deno.test,
  "openai chat",
  (fetch, limits) => createOpenAI({ fetch, ...limits, api: "chat" }),
  { model: MODEL, replies: loadFixtures("openai", CHAT), errors: ERRORS },
);

testStreamFn(
  Deno.test,
  "openai responses",
  (fetch, limits) => createOpenAI({ fetch, ...limits, api: "responses" }),
  { model: MODEL, replies: loadFixtures("openai", RESPONSES), errors: ERRORS },
);
