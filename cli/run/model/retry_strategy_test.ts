import { assert, assertEquals } from "@std/assert";
import { AgentError } from "../../../src/core/errors/errors.ts";
import { modelSpec } from "../../../mod.ts";
import { createRetries, createRetryStrategy, type RetryStrategyOptions } from "./retry_strategy.ts";

/** Returns the delay after a rate limit. */
function getDelay(
  retryAfterMs: number | undefined,
  attempt = 1,
  options: RetryStrategyOptions = {},
): number | null {
  const error = new AgentError("model_throttled", "Too many requests", {
    retryable: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
  return createRetryStrategy(options)({ error, attempt });
}

Deno.test("createRetryStrategy(): waits as long as the provider requests, up to an hour", () => {
  assertEquals(getDelay(600_000), 600_000);
  assertEquals(getDelay(3_600_000), 3_600_000);
  assertEquals(getDelay(3_600_001), null);
});

Deno.test("createRetryStrategy(): a replay retries as often, without a wait", () => {
  const getDelays = (retryAfterMs: number) =>
    [1, 2, 3].map((attempt) => getDelay(retryAfterMs, attempt, { isReplay: true }));
  assertEquals(getDelays(600_000), [0, 0, null]);
  assertEquals(getDelays(3_600_001), [null, null, null]);
});

Deno.test("createRetryStrategy(): backs off without a request, and gives up after 3 attempts", () => {
  const delay = getDelay(undefined) ?? 0;
  assert(delay >= 500 && delay <= 1_500, `${delay}`);
  assertEquals(getDelay(undefined, 3), null);
  assertEquals(getDelay(1_000, 3), null);
});

Deno.test("createRetries(): only the last model is waited for longer than a minute", () => {
  const error = new AgentError("model_throttled", "Too many requests", {
    retryable: true,
    retryAfterMs: 600_000,
  });
  const getDelays = (...names: readonly string[]) => {
    const { retry, fallback } = createRetries(names.map((name) => modelSpec(name)), {});
    return [retry, ...fallback.map((next) => next.retry)]
      .map((strategy) => strategy({ error, attempt: 1 }));
  };
  assertEquals(getDelays(), [600_000]);
  assertEquals(getDelays("any/b", "any/c"), [null, null, 600_000]);
  assertEquals(getDelay(60_000, 1, { hasFallback: true }), 60_000);
});
