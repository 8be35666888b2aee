import { assert, assertEquals, assertThrows } from "@std/assert";
import { seededRandom } from "../../testing/seeded_random.ts";
import {
  type AgentErrorCode,
  BadRequestError,
  createAgentError,
  ModelThrottledError,
  NetworkError,
} from "../errors/errors.ts";
import { type BackoffOptions, exponentialBackoff } from "./retry.ts";

const throttled = new ModelThrottledError("slow down");

function getDelays(options: BackoffOptions, attempts: number): (number | null)[] {
  const retry = exponentialBackoff(options);
  return Array.from(
    { length: attempts },
    (_, index) => retry({ error: throttled, attempt: index + 1 }),
  );
}

Deno.test("exponentialBackoff() allows three attempts for throttling and network errors [2.7, A45]", () => {
  for (const error of [throttled, new NetworkError("reset")]) {
    const retry = exponentialBackoff({ jitter: false });
    assertEquals([1, 2, 3].map((attempt) => retry({ error, attempt })), [1000, 2000, null]);
  }
});

Deno.test("exponentialBackoff() does not retry other errors [2.8, A45]", () => {
  const codes: AgentErrorCode[] = [
    "context_window_overflow",
    "aborted",
    "auth_error",
    "structured_output_failed",
    "already_running",
    "stream_error",
    "bad_request",
    "content_filtered",
    "model_not_found",
    "budget_exceeded",
  ];
  const retry = exponentialBackoff();
  for (const code of codes) {
    assertEquals(retry({ error: createAgentError(code, "x"), attempt: 1 }), null);
  }
});

Deno.test("exponentialBackoff() does not retry throttling by a quota", () => {
  const error = new ModelThrottledError("quota exceeded", { retryable: false });
  assertEquals(exponentialBackoff()({ error, attempt: 1 }), null);
});

Deno.test("exponentialBackoff() multiplies the delays up to maxDelayMs [2.9, A46, AC-14]", () => {
  assertEquals(getDelays({ maxAttempts: 9, jitter: false }, 9), [
    1000,
    2000,
    4000,
    8000,
    16_000,
    32_000,
    60_000,
    60_000,
    null,
  ]);
  assertEquals(getDelays({ maxAttempts: 4, jitter: false, baseDelayMs: 10, multiplier: 3 }, 3), [
    10,
    30,
    90,
  ]);
  assertEquals(
    exponentialBackoff({ maxAttempts: Infinity, jitter: false })({
      error: throttled,
      attempt: 100_000,
    }),
    60_000,
  );
});

Deno.test("exponentialBackoff() multiplies each delay by 0.5 to 1.5 with jitter [2.10, A46, AC-14]", () => {
  assertEquals(getDelays({ random: () => 0 }, 2), [500, 1000]);
  assertEquals(getDelays({ random: () => 0.999 }, 1), [1499]);
  const random = seededRandom(4);
  const delays = Array.from({ length: 200 }, () => getDelays({ random }, 1)[0] ?? 0);
  assert(delays.every((delay) => delay >= 500 && delay < 1500));
  assert(new Set(delays).size > 190);
});

Deno.test("exponentialBackoff() retries after a valid delay if random fails or returns no number in [0, 1)", () => {
  const sources = [() => NaN, () => 5, () => -1, () => {
    throw new Error("exhausted");
  }];
  for (const random of sources) {
    const [delay] = getDelays({ random }, 1);
    assert(typeof delay === "number" && delay >= 500 && delay < 1500, `${delay} ms`);
  }
});

Deno.test("exponentialBackoff() keeps the delays within their bounds for random options [A126a, AC-14]", () => {
  const random = seededRandom(126);
  for (let round = 0; round < 2000; round++) {
    const options = {
      baseDelayMs: Math.floor(random() * 5000),
      maxDelayMs: Math.floor(random() * 20_000),
      multiplier: 1 + random() * 4,
      maxAttempts: 20,
      random,
    };
    const attempt = 1 + Math.floor(random() * 19);
    const delay = exponentialBackoff(options)({ error: throttled, attempt });
    const plain = Math.min(
      options.baseDelayMs * options.multiplier ** (attempt - 1),
      options.maxDelayMs,
    );
    assert(
      delay !== null && delay >= plain * 0.5 && delay <= Math.min(plain * 1.5, options.maxDelayMs),
    );
  }
});

Deno.test("exponentialBackoff() prefers retryAfterMs, up to maxDelayMs", () => {
  const getDelay = (retryAfterMs: number): number | null =>
    exponentialBackoff()({ error: new ModelThrottledError("x", { retryAfterMs }), attempt: 1 });
  assertEquals([0, 1500, 42_000, 3_600_000].map(getDelay), [0, 1500, 42_000, 60_000]);
});

Deno.test("exponentialBackoff() does not retry when maxAttempts is 1", () => {
  assertEquals(getDelays({ maxAttempts: 1 }, 1), [null]);
});

Deno.test("exponentialBackoff() throws for unknown options and for numbers that would retry without end", () => {
  const cases: readonly (readonly [options: object, message: string])[] = [
    [{ maxAttempt: 5 }, "did you mean maxAttempts?"],
    [{ maxAttempts: NaN }, "maxAttempts must be a number of at least 0, not NaN"],
    [{ maxAttempts: "5" }, 'at least 0, not "5"'],
    [{ baseDelayMs: -1 }, "baseDelayMs must be a number of at least 0, not -1"],
    [{ maxDelayMs: null }, "maxDelayMs must be a number of at least 0, not null"],
    [{ random: 0.5 }, "random must be a function, not 0.5"],
    [{ multiplier: NaN }, "multiplier must be a number of at least 0, not NaN"],
  ];
  for (const [options, message] of cases) {
    assertThrows(() => exponentialBackoff(options), BadRequestError, message);
  }
  const strategy = exponentialBackoff({
    maxAttempts: Infinity,
    maxDelayMs: Infinity,
    multiplier: 0,
    jitter: false,
  });
  assertEquals([1, 2, 100].map((attempt) => strategy({ error: new NetworkError("x"), attempt })), [
    1000,
    0,
    0,
  ]);
});
