import { createAzure } from "../../adapters/azure/mod.ts";
import { testStreamFn } from "../../src/testing/stream_conformance.ts";
import type { ErrorFixture } from "../../src/testing/stream_fixture.ts";
import { loadFixtures } from "./fixture_files.ts";

const baseUrl = "https://my-resource.openai.azure.com";
const model = { provider: "azure", modelId: "gpt-5-mini", thinkingLevel: "low" } as const;

const ERRORS: readonly ErrorFixture[] = [
  {
    name: "an invalid key",
    status: 401,
    body:
      '{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}',
    expect: { code: "auth_error", retryable: false },
  },
  {
    name: "a filtered prompt",
    status: 400,
    body:
      '{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}',
    expect: { code: "content_filtered", retryable: false },
  },
  {
    name: "an unknown deployment",
    status: 404,
    body:
      '{"error":{"type":"invalid_request_error","code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}',
    expect: { code: "model_not_found", retryable: false },
  },
  {
    name: "too many requests, with a retry delay in milliseconds",
    status: 429,
    headers: { "retry-after": "2", "retry-after-ms": "1500" },
    body: '{"error":{"code":"429","message":"Requests have exceeded call rate limit."}}',
    expect: { code: "model_throttled", retryable: true, retryAfterMs: 1500 },
  },
];

testStreamFn(
  Deno.test,
  "azure chat",
  (fetch, limits) => createAzure({ fetch, baseUrl, api: "chat", ...limits }),
  {
    model,
    replies: loadFixtures("azure", {
      text: {
        text: "Grüezi, Welt 👋",
        stopReason: "stop",
        usage: { input: 15, output: 76, cacheRead: 4, total: 95, extra: { reasoning: 64 } },
      },
      async_filter: { text: "Yes.", stopReason: "stop" },
      // A filter result fails the reply, whatever its finish reason. [A134]
      filtered_late: { text: "Half a", errorCode: "content_filtered" },
      filtered: { text: "Half a", errorCode: "content_filtered" },
      tool_calls: {
        calls: [
          { name: "read_file", arguments: { path: "ü" } },
          { name: "list_all", arguments: {} },
        ],
        stopReason: "tool_use",
      },
    }),
    errors: ERRORS,
  },
);

testStreamFn(
  Deno.test,
  "azure responses",
  (fetch, limits) => createAzure({ fetch, baseUrl, api: "responses", ...limits }),
  {
    model,
    replies: loadFixtures("azure", {
      responses_text: {
        text: "Yes.",
        stopReason: "stop",
        usage: { input: 80, output: 50, cacheRead: 20, total: 150 },
      },
    }),
    errors: ERRORS,
  },
);
