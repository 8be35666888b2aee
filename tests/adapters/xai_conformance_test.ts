import { createXai } from "../../adapters/xai/mod.ts";
import { testStreamFn } from "../../src/testing/stream_conformance.ts";
import type { ErrorFixture } from "../../src/testing/stream_fixture.ts";
import { loadFixtures } from "./fixture_files.ts";

const ERRORS: readonly ErrorFixture[] = [
  {
    name: "an invalid key with status 400",
    status: 400,
    body:
      '{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***na. You can obtain an API key from https://console.x.ai."}',
    expect: { code: "auth_error", retryable: false },
  },
  {
    name: "a context overflow",
    status: 400,
    body:
      '{"code":"invalid-argument","error":"This model\'s maximum prompt length is 131072 but the request contains 537812 tokens."}',
    expect: { code: "context_window_overflow", retryable: false },
  },
  {
    name: "an unknown model",
    status: 404,
    body:
      '{"code":"Some requested entity was not found","error":"The model grok-99 does not exist or your team does not have access to it."}',
    expect: { code: "model_not_found", retryable: false },
  },
  {
    name: "a filtered prompt with status 403",
    status: 403,
    body:
      '{"code":"The caller does not have permission to execute the specified operation","error":"Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}',
    expect: { code: "content_filtered", retryable: false },
  },
  {
    name: "a team without credits, with status 403",
    status: 403,
    body:
      '{"code":"The caller does not have permission to execute the specified operation","error":"Your newly created team doesn\'t have any credits or licenses yet."}',
    expect: { code: "model_throttled", retryable: false },
  },
  {
    name: "a key without permission",
    status: 403,
    body:
      '{"code":"The caller does not have permission to execute the specified operation","error":"Team is not authorized to perform this action."}',
    expect: { code: "auth_error", retryable: false },
  },
  {
    name: "too many requests",
    status: 429,
    headers: { "retry-after": "7" },
    body: '{"code":"Some resource has been exhausted","error":"Too many requests"}',
    expect: { code: "model_throttled", retryable: true, retryAfterMs: 7000 },
  },
];

testStreamFn(
  Deno.test,
  "xai chat",
  (fetch, limits) => createXai({ fetch, ...limits }),
  {
    model: { provider: "xai", modelId: "grok-code-fast-1", thinkingLevel: "off" },
    replies: loadFixtures("xai", {
      chat_text: {
        text: "Grüezi, Welt 👋",
        stopReason: "stop",
        usage: {
          input: 7,
          output: 253,
          cacheRead: 300,
          cacheWrite: 0,
          total: 560,
          extra: { reasoning: 227 },
        },
      },
      chat_thinking_and_calls: {
        thinking: "First, look.",
        calls: [
          { name: "read_file", arguments: { path: "ü" } },
          { name: "list_all", arguments: {} },
        ],
        stopReason: "tool_use",
      },
      chat_error: { text: "Half a", errorCode: "network_error" },
    }),
    errors: ERRORS,
  },
);

testStreamFn(
  Deno.test,
  "xai responses",
  (fetch, limits) => createXai({ fetch, ...limits }),
  {
    model: { provider: "xai", modelId: "grok-4.7", thinkingLevel: "low" },
    replies: loadFixtures("xai", {
      responses_tools: {
        thinking: "Look first.",
        calls: [{ name: "read_file", arguments: { path: "a" } }],
        stopReason: "tool_use",
        usage: { input: 80, output: 50, cacheRead: 20, total: 150, extra: { reasoning: 30 } },
      },
    }),
    errors: ERRORS,
  },
);
