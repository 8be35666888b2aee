import { assert, assertEquals, assertFalse } from "@std/assert";
import type { AgentErrorCode } from "../../../src/core/errors/errors.ts";
import { classifyResponse, classifyStreamError } from "./classify.ts";
import { UNAVAILABLE } from "./error_table.ts";

const ORIGIN = { provider: "acme", now: 0 };

function classify(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return classifyResponse({ status, headers: new Headers(headers), body: text }, ORIGIN);
}

const createErrorBody = (message: string) => ({ error: { message } });

/** Name, status and body of a response, expected code, whether the error is retryable. */
const RESPONSE_CASES: readonly (readonly [string, number, unknown, AgentErrorCode, boolean])[] = [
  ["a wrong key [5.5]", 401, createErrorBody("invalid x-api-key"), "auth_error", false],
  ["a key without permission", 403, createErrorBody("no"), "auth_error", false],
  [
    "a wrong key, with the code that a gateway gives to all errors",
    401,
    { type: "error", error: { type: "api_error", message: "Invalid token" } },
    "auth_error",
    false,
  ],
  [
    "a key without permission, with the code of a failed server",
    403,
    { error: { code: "server_error", message: "no" } },
    "auth_error",
    false,
  ],
  [
    "an exhausted plan, answered like a missing permission",
    403,
    createErrorBody("You've reached your usage limit for this billing cycle."),
    "model_throttled",
    false,
  ],
  [
    "a key of OpenRouter that has spent its limit",
    403,
    createErrorBody(
      "Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys",
    ),
    "model_throttled",
    false,
  ],
  [
    "a team of xAI without credits",
    403,
    {
      error:
        "Your newly created team doesn't have any credits yet. You can purchase credits on https://console.x.ai",
    },
    "model_throttled",
    false,
  ],
  [
    "an empty balance at Moonshot",
    429,
    {
      error: {
        type: "exceeded_current_quota_error",
        message: "Your account is suspended, please check your plan and billing details",
      },
    },
    "model_throttled",
    false,
  ],
  [
    "an unknown model at OpenRouter",
    400,
    { error: { message: "claude-sonnet-4-6 is not a valid model ID", code: 400 } },
    "model_not_found",
    false,
  ],
  ["a conflict", 409, createErrorBody("try again"), "network_error", true],
  ["too many requests [5.6]", 429, createErrorBody("Rate limited"), "model_throttled", true],
  [
    "too many tokens per minute",
    429,
    createErrorBody("Rate limit exceeded: too many tokens per minute"),
    "model_throttled",
    true,
  ],
  [
    "a rate limit message that resembles an overflow",
    400,
    createErrorBody("Throttling error: Too many tokens, please wait before trying again"),
    "model_throttled",
    true,
  ],
  [
    "an invalid max_tokens",
    400,
    createErrorBody("max_tokens: must be greater than 0"),
    "bad_request",
    false,
  ],
  [
    "a request with more tokens than the limit of a minute",
    429,
    {
      error: {
        type: "tokens",
        code: "rate_limit_exceeded",
        message: "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): " +
          "Limit 30000, Requested 45000.",
      },
    },
    "context_window_overflow",
    false,
  ],
  [
    "an exhausted daily limit",
    429,
    createErrorBody("Too many tokens per day, please wait before trying again."),
    "model_throttled",
    false,
  ],
  [
    "a daily limit that resets soon",
    429,
    createErrorBody("Rate limit reached on requests per day (RPD). Please try again in 7m12s."),
    "model_throttled",
    true,
  ],
  [
    "spent credits",
    429,
    createErrorBody("Your prepayment credits are depleted."),
    "model_throttled",
    false,
  ],
  [
    "a spending cap",
    429,
    createErrorBody("Your project has exceeded its monthly spending cap."),
    "model_throttled",
    false,
  ],
  [
    "a long context without a subscription for it",
    429,
    createErrorBody("Extra usage is required for long context requests."),
    "model_throttled",
    false,
  ],
  [
    "an input that the moderation rejects",
    403,
    createErrorBody("acme/large requires moderation on Acme. Your input was flagged."),
    "content_filtered",
    false,
  ],
  ["a tier without capacity", 498, createErrorBody("No capacity"), "network_error", true],
  ["a failed generation", 424, createErrorBody("Generation failed"), "network_error", true],
  [
    "an exhausted quota [B71]",
    429,
    { error: { code: "insufficient_quota", message: "You exceeded your current quota" } },
    "model_throttled",
    false,
  ],
  [
    "an exhausted quota in the message [B71]",
    429,
    createErrorBody("You exceeded your current quota"),
    "model_throttled",
    false,
  ],
  [
    "an input that is too long a text",
    400,
    { error: { code: "string_above_max_length", param: "input[0].content", message: "Too long" } },
    "context_window_overflow",
    false,
  ],
  [
    "another field with too long a text",
    400,
    { error: { code: "string_above_max_length", param: "prompt_cache_key", message: "Too long" } },
    "bad_request",
    false,
  ],
  ["an unpaid bill without a message", 402, "", "model_throttled", false],
  ["an unpaid bill", 402, createErrorBody("Insufficient Balance"), "model_throttled", false],
  [
    "no credit",
    400,
    createErrorBody("Your credit balance is too low to access the API"),
    "model_throttled",
    false,
  ],
  [
    "a rate limit whose message mentions payment",
    429,
    createErrorBody("Rate limit reached. Add a payment method at /account/billing."),
    "model_throttled",
    true,
  ],
  ["a gateway timeout [5.7]", 504, "upstream timed out", "network_error", true],
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
  ["a request timeout", 408, "", "network_error", true],
  [
    "an overflow in the message [AC-12]",
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
    "an overflow wrapped by a gateway",
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
  ["an unknown path", 404, "404 page not found", "bad_request", false],
  [
    "an unsupported parameter",
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
  ["an unknown error", 418, "", "bad_request", false],
];

for (const [name, status, body, code, retryable] of RESPONSE_CASES) {
  Deno.test(`classifyResponse(): ${name} (${status}) is ${code}`, () => {
    const error = classify(status, body);
    assertEquals([error.code, error.retryable], [code, retryable], error.message);
    assertEquals([error.status, error.provider], [status, "acme"]);
  });
}

Deno.test("classifyResponse(): the error has the retry delay, the request id and the message", () => {
  const error = classify(429, createErrorBody("Slow down"), {
    "retry-after": "42",
    "request-id": "req_1",
  });
  assertEquals(error.retryAfterMs, 42_000);
  assertEquals(error.requestId, "req_1");
  assertEquals(error.message, "acme answered 429: Slow down");
});

Deno.test("classifyResponse(): x-should-retry applies unless a retry cannot help", () => {
  assertEquals(classify(500, "", { "x-should-retry": "false" }).retryable, false);
  assertEquals(classify(400, "", { "x-should-retry": "true" }).retryable, true);
  assertEquals(classify(413, "", { "x-should-retry": "true" }).retryable, false);
});

Deno.test("classifyResponse(): an exhausted quota is retryable with a short retry delay, unless it is daily", () => {
  const quota = (detail: string, delay = "40s") =>
    createErrorBody(`You exceeded your current quota${detail}. Please retry in ${delay}.`);
  assert(classify(429, quota("")).retryable);
  assert(classify(429, quota("", "60 minutes")).retryable);
  assertFalse(classify(429, quota("", "61 minutes")).retryable);
  assertFalse(classify(429, quota(" (GenerateRequestsPerDay)")).retryable);
});

Deno.test("classifyResponse(): the message contains no secrets and no control characters", () => {
  const origin = { ...ORIGIN, secrets: ["my secret text"] };
  const body = JSON.stringify(
    createErrorBody("my secret text\u001b[31m sk-abcdefghijklmnop1234 Bearer abc.def.ghi"),
  );
  const error = classifyResponse({ status: 400, headers: new Headers(), body }, origin);
  assertEquals(
    error.message,
    "acme answered 400: [redacted] [31m [redacted] Bearer [redacted]",
  );
});

/** An error within a stream, its code, whether it is retryable. */
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
  Deno.test(`classifyStreamError(): ${JSON.stringify(value)} is ${code} [A129, B72]`, () => {
    const error = classifyStreamError(value, ORIGIN);
    assertEquals([error.code, error.retryable], [code, retryable], error.message);
  });
}

Deno.test("classifyStreamError(): the message contains no secrets", () => {
  const origin = { ...ORIGIN, secrets: ["my secret text"] };
  const value = { error: { message: "my secret text is rejected, as is sk-abcdefghijklmnop1234" } };
  assertEquals(
    classifyStreamError(value, origin).message,
    "acme reported an error: [redacted] is rejected, as is [redacted]",
  );
});

Deno.test("classifyResponse(): redacts a key that a gateway repeats as the id of the request", () => {
  const headers = new Headers({ "x-request-id": "Bearer my-secret-key" });
  const error = classifyResponse(
    { status: 500, headers, body: "" },
    { ...ORIGIN, secrets: ["my-secret-key"] },
  );
  assertEquals(error.requestId, "Bearer [redacted]");
});

Deno.test("classifyResponse(): a daily quota in the details of an error is exhausted, although it has a retry delay", () => {
  const quota = (quotaId: string) => ({
    error: {
      code: 429,
      message: "Quota exceeded for the model",
      details: [
        { "@type": "x.QuotaFailure", violations: [{ quotaId: "PerMinute" }, { quotaId }] },
        { "@type": "x.RetryInfo", retryDelay: "30s" },
      ],
    },
  });
  assert(classify(429, quota("GenerateRequestsPerMinute")).retryable);
  const { code, retryable } = classify(429, quota("GenerateRequestsPerDayPerProject"));
  assertEquals([code, retryable], ["model_throttled", false]);
});

Deno.test("classifyResponse(): the error type of AWS in a header may be followed by a URL", () => {
  const table = { codes: { ModelTimeoutException: UNAVAILABLE } };
  for (const type of ["ModelTimeoutException", "ModelTimeoutException:http://a.example/v1/"]) {
    const headers = new Headers({ "x-amzn-errortype": type });
    const { code } = classifyResponse({ status: 400, headers, body: "" }, { ...ORIGIN, table });
    assertEquals(code, "network_error", type);
  }
});

/** Messages about a prompt that is too long, by the servers that send them. */
const OVERFLOWS: Readonly<Record<string, string>> = {
  "Nova at Bedrock": "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
  SiliconFlow: "number of input tokens (167594) has exceeded max_prompt_tokens (163840) limit.",
  "Vertex AI": "Unable to submit request because the input token count is 1048577 but model only " +
    "supports up to 1048576.",
  "z.ai": "Prompt exceeds max length",
  Qwen: "Range of input length should be [1, 129024]",
  "Volcano Engine": "Input length 203743 exceeds the maximum length 202752",
  TGI: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000",
  "TGI, alone": "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
  "LM Studio": "Trying to keep the first 5000 tokens when context the overflows. However, the " +
    "model is loaded with context length of only 4096 tokens, which is not enough.",
  vLLM: "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
  SGLang: "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
  Ollama: "the input is longer than the context length",
  "llama.cpp, while it generates": "Context size has been exceeded.",
};

for (const [server, message] of Object.entries(OVERFLOWS)) {
  Deno.test(`classifyResponse(): an overflow of ${server} is recognized by its message`, () => {
    assertEquals(classify(400, createErrorBody(message)).code, "context_window_overflow");
    assertEquals(
      classifyStreamError({ error: { message } }, ORIGIN).code,
      "context_window_overflow",
    );
  });
}

Deno.test("classifyResponse(): a limit of another field is no overflow", () => {
  for (
    const message of [
      "max_tokens is too large: 300000. This model supports at most 16384 completion tokens",
      "tools: 200 exceeds maximum length 128",
      "prompt_cache_key exceeds maximum length 64",
      "`inputs` must be a list",
      "This model only supports text input",
    ]
  ) assertEquals(classify(400, createErrorBody(message)).code, "bad_request", message);
});

Deno.test("classifyResponse(), classifyStreamError(): a call that the model wrote wrongly at Groq may be right at the next attempt", () => {
  const body = {
    error: {
      message: "Failed to call a function. Please adjust your prompt.",
      type: "invalid_request_error",
      code: "tool_use_failed",
      failed_generation: "<function=look>",
    },
  };
  for (const error of [classify(400, JSON.stringify(body)), classifyStreamError(body, ORIGIN)]) {
    assertEquals([error.code, error.retryable], ["bad_request", true]);
  }
});

Deno.test("classifyStreamError(): an overloaded or failed server is recognized by the codes of OpenAI and TGI", () => {
  const errors = [
    { error: { code: "slow_down", message: "Reduce your request rate." } },
    { error: { code: "server_is_overloaded", message: "Try again." } },
    { error: "Request failed during generation: CUDA out of memory", error_type: "generation" },
    { error: "Model is busy", error_type: "overloaded" },
  ];
  for (const error of errors) {
    const { code, retryable } = classifyStreamError(error, ORIGIN);
    assertEquals([code, retryable], ["network_error", true], JSON.stringify(error));
  }
});

Deno.test("classifyStreamError(): an error without a code that says to retry is retryable", () => {
  const message = "An error occurred while processing your request. You can retry your request.";
  const { code, retryable } = classifyStreamError({ type: "error", code: null, message }, ORIGIN);
  assertEquals([code, retryable], ["network_error", true]);
});
