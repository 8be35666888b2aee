import { assertEquals, assertRejects } from "@std/assert";
import type { StreamRequest } from "../src/core/stream.ts";
import { readReply } from "../src/testing/read_reply.ts";
import { createOpenAI } from "./openai/mod.ts";
import { RateLimiter } from "./rate_limiter.ts";
import type { Clock } from "./shared/clock.ts";

/** A clock whose time goes on only when somebody waits for it. */
class FakeClock implements Clock {
  #now = 0;
  #timers: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Lets time go on to the next timer. */
  async next(): Promise<number> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    const [timer] = this.#timers.toSorted((one, other) => one.at - other.at);
    if (timer) {
      this.#now = timer.at;
      timer.callback();
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
    return this.#now;
  }
}

const never = new AbortController().signal;

Deno.test("requests beyond the limit wait for their turn, in order", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ requestsPerMinute: 2, clock });
  const sent: [string, number][] = [];
  const send = (name: string) =>
    limiter.acquire(1, never).then(() => sent.push([name, clock.now()]));
  const all = Promise.all(["a", "b", "c", "d"].map(send));
  await clock.next();
  await clock.next();
  await all;
  assertEquals(sent, [["a", 0], ["b", 0], ["c", 30_000], ["d", 60_000]]);
});

Deno.test("tokens are limited as well; a request of more than all of them waits for a full minute's worth", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  await limiter.acquire(600, never);
  const second = limiter.acquire(600, never).then(() => clock.now());
  await clock.next();
  assertEquals(await second, 12_000);
  const huge = limiter.acquire(5000, never).then(() => clock.now());
  await clock.next();
  assertEquals(await huge, 72_000);
});

Deno.test("what the provider tells is taken into account", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ clock });
  await limiter.acquire(1, never);
  limiter.observe(
    new Headers({
      "x-ratelimit-limit-requests": "60",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "20s",
    }),
  );
  const next = limiter.acquire(1, never).then(() => clock.now());
  await clock.next();
  assertEquals(await next, 20_000);
});

Deno.test("Anthropic's headers are understood", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ clock });
  limiter.observe(
    new Headers({
      "anthropic-ratelimit-tokens-limit": "1000",
      "anthropic-ratelimit-tokens-remaining": "0",
      "anthropic-ratelimit-tokens-reset": "1970-01-01T00:00:30Z",
    }),
  );
  const next = limiter.acquire(100, never).then(() => clock.now());
  await clock.next();
  assertEquals(await next, 30_000);
});

Deno.test("an abort ends the wait at once, and the next in line goes on", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ requestsPerMinute: 1, clock });
  await limiter.acquire(1, never);
  const controller = new AbortController();
  const given = limiter.acquire(1, controller.signal);
  const kept = limiter.acquire(1, never).then(() => clock.now());
  controller.abort(new Error("enough"));
  await assertRejects(() => given, Error, "enough");
  await clock.next();
  assertEquals(await kept, 60_000);
});

Deno.test("agents that share a limiter share its limit", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ requestsPerMinute: 1, clock });
  const sentAt: number[] = [];
  const fetch = () => {
    sentAt.push(clock.now());
    return Promise.resolve(
      new Response('data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n'),
    );
  };
  const request: StreamRequest = {
    model: { provider: "openai", modelId: "gpt-4o", thinkingLevel: "off" },
    context: { systemPrompt: "", messages: [], tools: [] },
    options: { apiKey: "k" },
    signal: never,
  };
  const replies = [1, 2].map(() =>
    readReply(createOpenAI({ fetch, limiter, api: "chat" })(request))
  );
  await clock.next();
  assertEquals((await Promise.all(replies)).map(({ text }) => text), ["x", "x"]);
  assertEquals(sentAt, [0, 60_000]);
});
