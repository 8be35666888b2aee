import { assertEquals, assertStrictEquals } from "@std/assert";
import { Agent } from "../../../src/agent/agent.ts";
import { exponentialBackoff } from "../../../src/core/hooks/retry.ts";
import { ManualClock } from "../../../src/testing/manual_clock.ts";
import { replayFetch } from "../../../src/testing/replay_fetch.ts";
import { settle } from "../../../tests/conformance/ports.ts";
import { connect } from "../../connect.ts";
import { RateLimiter } from "./rate_limiter.ts";

const neverAborted = new AbortController().signal;
const REPLY = 'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n' +
  "data: [DONE]\n\n";

/** Servers of two providers: `busy` rejects every request for 20 seconds, `idle` answers. */
function createProviders() {
  const options = { baseUrl: "https://models.example/v1", apiKey: "k" };
  const busy = replayFetch({ status: 429, headers: { "retry-after": "20" } });
  const idle = replayFetch(REPLY);
  return {
    busy,
    idle,
    providers: { busy: { ...options, fetch: busy }, idle: { ...options, fetch: idle } },
  };
}

Deno.test("connect(): the retry delay of one provider does not delay the fallback to another one", async () => {
  const clock = new ManualClock();
  const { busy, idle, providers } = createProviders();
  const agent = new Agent({
    model: "busy/m",
    fallback: ["idle/m"],
    retry: exponentialBackoff({ maxAttempts: 1, jitter: false }),
    streamFn: connect({ limiter: new RateLimiter({ clock }), providers }),
  });
  assertEquals((await agent.prompt("Hi")).text, "x");
  assertEquals([busy.requests.length, idle.requests.length, clock.now()], [1, 1, 0]);
});

Deno.test("connect(): agents share the retry delay of a provider by sharing the limiter", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ clock });
  const { busy, providers } = createProviders();
  const createAgent = () =>
    new Agent({
      model: "busy/m",
      retry: exponentialBackoff({ maxAttempts: 1 }),
      streamFn: connect({ limiter, providers }),
    });
  await createAgent().prompt("Hi");
  const second = createAgent().prompt("Hi");
  await settle();
  assertEquals(busy.requests.length, 1);
  clock.advanceToNext();
  await second;
  assertEquals([busy.requests.length, clock.now()], [2, 20_000]);
});

Deno.test("RateLimiter.forProvider(): its limits apply to the requests to all providers together", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ requestsPerMinute: 2, tokensPerMinute: 1000, clock });
  const [one, two] = [limiter.forProvider("one"), limiter.forProvider("two")];
  assertStrictEquals(limiter.forProvider("one"), one);
  await one.acquire(500, neverAborted);
  await two.acquire(500, neverAborted);
  two.settle?.(500, 100);
  const third = one.acquire(1, neverAborted).then(() => clock.now());
  await settle();
  clock.advanceToNext();
  assertEquals(await third, 30_000);
});

Deno.test("RateLimiter.forProvider(): reported limits apply to the requests to one provider", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ clock });
  const [one, two] = [limiter.forProvider("one"), limiter.forProvider("two")];
  one.observe(new Headers({ "x-ratelimit-limit-requests": "1" }));
  await one.acquire(1, neverAborted);
  const next = one.acquire(1, neverAborted).then(() => clock.now());
  await two.acquire(1, neverAborted);
  await two.acquire(1, neverAborted);
  await settle();
  assertEquals(clock.now(), 0);
  clock.advanceToNext();
  assertEquals(await next, 60_000);
});
