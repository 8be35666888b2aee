import { assert, assertEquals, assertFalse } from "@std/assert";
import type { AgentErrorCode } from "../../../src/core/errors.ts";
import { classifyResponse, classifyStreamError } from "./classify.ts";

const ORIGIN = { provider: "someone", now: 0 };

function classify(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return classifyResponse({ status, headers: new Headers(headers), body: text }, ORIGIN);
}

const createErrorBody = (words: string) => ({ error: { message: words } });

/** Status, body, code, retryable. */
const RESPONSE_CASES: readonly (readonly [string, number, unknown, AgentErrorCode, boolean])[] = [
  ["5.5: a wrong key", 401, createErrorBody("invalid x-api-key"), "auth_error", false],
  ["a key that may not", 403, createErrorBody("no"), "auth_error", false],
  ["5.6: too many requests", 429, createErrorBody("Rate limited"), "model_throttled", true],
  [
    "too many tokens a minute",
    429,
    createErrorBody("Rate limit exceeded: too many tokens per minute"),
    "model_throttled",
    true,
  ],
  [
    "throttling words that sound like overflow",
    400,
    createErrorBody("Throttling error: Too many tokens, please wait before trying again"),
    "model_throttled",
    true,
  ],
  [
    "a bad max_tokens",
    400,
    createErrorBody("max_tokens: must be greater than 0"),
    "bad_request",
    false,
  ],
  [
    "B 71: a used-up quota",
    429,
    { error: { code: "insufficient_quota", message: "You exceeded your current quota" } },
    "model_throttled",
    false,
  ],
  [
    "B 71: a used-up quota in words",
    429,
    createErrorBody("You exceeded your current quota"),
    "model_throttled",
    false,
  ],
  ["an open bill", 402, createErrorBody("Insufficient Balance"), "model_throttled", false],
  [
    "no credit left",
    400,
    createErrorBody("Your credit balance is too low to access the API"),
    "model_throttled",
    false,
  ],
  [
    "a limit that can be raised by paying",
    429,
    createErrorBody("Rate limit reached. Add a payment method at /account/billing."),
    "model_throttled",
    true,
  ],
  ["5.7: a gateway time-out", 504, "upstream timed out", "network_error", true],
  [
    "an overloaded provider",
    529,
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    "network_error",
    true,
  ],
  [
    "a web page",
    502,
    "<html><head><title>502 Bad Gateway</title></head></html>",
    "network_error",
    true,
  ],
  ["a request time-out", 408, "", "network_error", true],
  [
    "AC-12: an overflow in words",
    400,
    createErrorBody("prompt is too long: 210510 tokens > 200000 maximum"),
    "context_window_overflow",
    false,
  ],
  [
    "an overflow by code",
    400,
    { error: { code: "context_length_exceeded", message: "x" } },
    "context_window_overflow",
    false,
  ],
  [
    "an overflow that a gateway wraps",
    500,
    createErrorBody("litellm.ContextWindowExceededError: …"),
    "context_window_overflow",
    false,
  ],
  ["an empty 413", 413, "", "context_window_overflow", false],
  [
    "an unknown model",
    404,
    { error: { code: "model_not_found", message: "The model `x` does not exist" } },
    "model_not_found",
    false,
  ],
  [
    "an unknown model as 400",
    400,
    createErrorBody("The provided model identifier is invalid."),
    "model_not_found",
    false,
  ],
  ["an unknown address", 404, "404 page not found", "bad_request", false],
  [
    "a value that a model does not take",
    400,
    createErrorBody("Unsupported parameter: 'temperature' is not supported with this model."),
    "bad_request",
    false,
  ],
  [
    "a filtered prompt",
    400,
    { error: { code: "content_filter", message: "filtered" } },
    "content_filtered",
    false,
  ],
  [
    "a wrong key as 400",
    400,
    { code: "x", error: "Incorrect API key provided: ba***na." },
    "auth_error",
    false,
  ],
  ["nothing known", 418, "", "bad_request", false],
];

for (const [name, status, body, code, retryable] of RESPONSE_CASES) {
  Deno.test(`${name} (${status}) is ${code}`, () => {
    const error = classify(status, body);
    assertEquals([error.code, error.retryable], [code, retryable], error.message);
    assertEquals([error.status, error.provider], [status, "someone"]);
  });
}

Deno.test("the wait, the request's id and the provider's words are told", () => {
  const error = classify(429, createErrorBody("Slow down"), {
    "retry-after": "42",
    "request-id": "req_1",
  });
  assertEquals(error.retryAfterMs, 42_000);
  assertEquals(error.requestId, "req_1");
  assertEquals(error.message, "someone answered 429: Slow down");
});

Deno.test("x-should-retry decides where a retry could help", () => {
  assertEquals(classify(500, "", { "x-should-retry": "false" }).retryable, false);
  assertEquals(classify(400, "", { "x-should-retry": "true" }).retryable, true);
  assertEquals(classify(413, "", { "x-should-retry": "true" }).retryable, false);
});

Deno.test("a quota that says when to come back is worth a retry, one of the day is not", () => {
  const quota = (words: string) =>
    createErrorBody(`You exceeded your current quota${words}. Please retry in 40s.`);
  assert(classify(429, quota("")).retryable);
  assertFalse(classify(429, quota(" (GenerateRequestsPerDay)")).retryable);
});

Deno.test("keys and control characters stay out of messages", () => {
  const origin = { ...ORIGIN, secrets: ["my secret word"] };
  const body = JSON.stringify(
    createErrorBody("my secret word\u001b[31m sk-abcdefghijklmnop1234 Bearer abc.def.ghi"),
  );
  const error = classifyResponse({ status: 400, headers: new Headers(), body }, origin);
  assertEquals(
    error.message,
    "someone answered 400: [redacted] [31m [redacted] Bearer [redacted]",
  );
});

/** An error inside a stream, its code, whether it is worth a retry (A 129, B 72). */
const STREAM_CASES: readonly (readonly [unknown, AgentErrorCode, boolean])[] = [
  [{ type: "error", error: { type: "rate_limit_error", message: "x" } }, "model_throttled", true],
  [{ type: "error", error: { type: "overloaded_error", message: "x" } }, "network_error", true],
  [{ type: "error", error: { type: "invalid_request_error", message: "x" } }, "bad_request", false],
  [{ type: "error", error: { type: "something_new", message: "x" } }, "stream_error", false],
  [{ error: { message: "The server had an error", type: "server_error" } }, "network_error", true],
  [{ error: { code: 400, message: "Token limit reached" } }, "bad_request", false],
  [{ error: { code: 429, message: "Provider returned error" } }, "model_throttled", true],
  [{ error: { code: "insufficient_quota", message: "x" } }, "model_throttled", false],
  [{ error: { code: "context_length_exceeded", message: "x" } }, "context_window_overflow", false],
  [{ error: "an error was encountered while running the model" }, "stream_error", false],
  ["boom", "stream_error", false],
  [null, "stream_error", false],
];

for (const [value, code, retryable] of STREAM_CASES) {
  Deno.test(`B 72: inside a stream, ${JSON.stringify(value)} is ${code}`, () => {
    const error = classifyStreamError(value, ORIGIN);
    assertEquals([error.code, error.retryable], [code, retryable], error.message);
  });
}
