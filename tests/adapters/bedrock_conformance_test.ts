import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { testStreamFn } from "../../src/testing/stream_conformance.ts";
import { createBedrockFixtures } from "./bedrock_frames.ts";

const toErrorJson = (message: string) => JSON.stringify({ message });

testStreamFn(
  Deno.test,
  "bedrock",
  (fetch, limits) => createBedrock({ region: "us-east-1", fetch, ...limits }),
  {
    model: {
      provider: "bedrock",
      modelId: "anthropic.claude-sonnet-4-5-20250929-v1:0",
      thinkingLevel: "off",
    },
    replies: createBedrockFixtures({
      text: {
        text: "Grüezi, Welt 👋",
        thinking: "",
        calls: [],
        stopReason: "stop",
        usage: { input: 12, output: 30, cacheRead: 100, cacheWrite: 50, total: 192 },
      },
      two_texts: { text: "One.Two.", stopReason: "stop", usage: { total: 3 } },
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
      },
      metadata_first: { text: "Early counts.", stopReason: "stop", usage: { total: 3 } },
      length_in_tool: {
        calls: [
          { name: "write_file", arguments: { path: "a" } },
          { name: "write_file", arguments: {} },
        ],
        stopReason: "length",
      },
      guardrail: { text: "{ADDRESS}", errorCode: "content_filtered", usage: { total: 33 } },
      throttled: { text: "Half a", errorCode: "model_throttled" },
      overflow: { text: "", errorCode: "context_window_overflow" },
      server_tool: { text: "It is 42.", calls: [], stopReason: "stop" },
    }),
    errors: [
      {
        name: "a wrong key",
        status: 403,
        headers: { "x-amzn-errortype": "UnrecognizedClientException" },
        body: toErrorJson("The security token included in the request is invalid."),
        expect: { code: "auth_error", retryable: false },
      },
      {
        name: "too many requests",
        status: 429,
        headers: { "x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/coral/" },
        body: toErrorJson("Too many tokens, please wait before trying again."),
        expect: { code: "model_throttled", retryable: true },
      },
      {
        name: "an exhausted quota",
        status: 400,
        headers: { "x-amzn-errortype": "ServiceQuotaExceededException" },
        body: toErrorJson("Your request exceeds the service quota for your account."),
        expect: { code: "model_throttled", retryable: false },
      },
      {
        name: "a prompt that is too long",
        status: 400,
        headers: { "x-amzn-errortype": "ValidationException" },
        body: toErrorJson("Input is too long for requested model."),
        expect: { code: "context_window_overflow", retryable: false },
      },
      {
        name: "an unknown model",
        status: 404,
        headers: { "x-amzn-errortype": "ResourceNotFoundException" },
        body: toErrorJson("This model version has reached the end of its life."),
        expect: { code: "model_not_found", retryable: false },
      },
      {
        name: "a failed model",
        status: 424,
        headers: { "x-amzn-errortype": "ModelErrorException" },
        body: toErrorJson("The request failed due to an error while processing the model."),
        expect: { code: "network_error", retryable: true },
      },
      {
        name: "an invalid request",
        status: 400,
        headers: { "x-amzn-errortype": "ValidationException" },
        body: toErrorJson("Malformed input request: extraneous key [toolResult] is not permitted."),
        expect: { code: "bad_request", retryable: false },
      },
    ],
  },
);
