import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { BadRequestError } from "../../../src/core/errors.ts";
import { userMessage } from "../../../src/core/message.ts";
import type { StreamRequest } from "../../../src/core/stream.ts";
import { readReply } from "../../../src/testing/read_reply.ts";
import { replayFetch } from "../../../src/testing/replay_fetch.ts";
import { createOpenAI } from "../../openai/mod.ts";
import { RateLimiter } from "./rate_limiter.ts";
import type { Clock } from "../options/clock.ts";

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

const neverAborted = new AbortController().signal;

Deno.test("requests beyond the limit wait for their turn, in order", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ requestsPerMinute: 2, clock });
  const sent: [string, number][] = [];
  const send = (name: string) =>
    limiter.acquire(1, neverAborted).then(() => sent.push([name, clock.now()]));
  const all = Promise.all(["a", "b", "c", "d"].map(send));
  await clock.next();
  await clock.next();
  await all;
  assertEquals(sent, [["a", 0], ["b", 0], ["c", 30_000], ["d", 60_000]]);
});

Deno.test("tokens are limited as well; a request of more than all of them waits for a full minute's worth", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  await limiter.acquire(600, neverAborted);
  const second = limiter.acquire(600, neverAborted).then(() => clock.now());
  await clock.next();
  assertEquals(await second, 12_000);
  const huge = limiter.acquire(5000, neverAborted).then(() => clock.now());
  await clock.next();
  assertEquals(await huge, 72_000);
});

Deno.test("what the provider tells is taken into account", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ clock });
  await limiter.acquire(1, neverAborted);
  limiter.observe(
    new Headers({
      "x-ratelimit-limit-requests": "60",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "20s",
    }),
  );
  const next = limiter.acquire(1, neverAborted).then(() => clock.now());
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
  const next = limiter.acquire(100, neverAborted).then(() => clock.now());
  await clock.next();
  assertEquals(await next, 30_000);
});

Deno.test("an abort ends the wait at once, and the next in line goes on", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ requestsPerMinute: 1, clock });
  await limiter.acquire(1, neverAborted);
  const controller = new AbortController();
  const given = limiter.acquire(1, controller.signal);
  const kept = limiter.acquire(1, neverAborted).then(() => clock.now());
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
    signal: neverAborted,
  };
  const replies = [1, 2].map(() =>
    readReply(createOpenAI({ fetch, limiter, api: "chat" })(request))
  );
  await clock.next();
  assertEquals((await Promise.all(replies)).map(({ text }) => text), ["x", "x"]);
  assertEquals(sentAt, [0, 60_000]);
});

/** A request of one message. */
function createRequest(text: string): StreamRequest {
  return {
    model: { provider: "openai", modelId: "gpt-4o", thinkingLevel: "off" },
    context: { systemPrompt: "", messages: [userMessage(text, 0)], tools: [] },
    options: { apiKey: "k" },
    signal: neverAborted,
  };
}

/** A reply that has used so many tokens, of which some came from a cache. */
function createReply(input: number, output: number, cached = 0): string {
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cached },
  };
  return `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n` +
    `data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`;
}

Deno.test("an estimate is put right by what was used: input, output, nothing from a cache", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  const streamFn = createOpenAI({
    fetch: replayFetch(createReply(700, 60, 600)),
    limiter,
    api: "chat",
  });
  await readReply(streamFn(createRequest("x".repeat(3600))));
  // 100 of the prompt and 60 of the reply have been used, not the 900 or so of the estimate.
  await limiter.acquire(840, neverAborted);
  assertEquals(clock.now(), 0);
  const next = limiter.acquire(1, neverAborted).then(() => clock.now());
  await clock.next();
  assertEquals(await next, 60);
});

Deno.test("who waits for tokens goes on as soon as an estimate turns out too high", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  await limiter.acquire(1000, neverAborted);
  const waiting = limiter.acquire(500, neverAborted).then(() => clock.now());
  await new Promise((resolve) => setTimeout(resolve, 0));
  limiter.settle(1000, 100);
  assertEquals(await waiting, 0);
});

Deno.test("more used than estimated makes the next one wait longer", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  await limiter.acquire(100, neverAborted);
  limiter.settle(100, 1500);
  const next = limiter.acquire(100, neverAborted).then(() => clock.now());
  await clock.next();
  assertEquals(await next, 36_000);
});

Deno.test("a request that is refused uses no tokens", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  const streamFn = createOpenAI({ fetch: replayFetch({ status: 429 }), limiter, api: "chat" });
  assertEquals(
    (await readReply(streamFn(createRequest("x".repeat(3600))))).error?.code,
    "model_throttled",
  );
  await limiter.acquire(1000, neverAborted);
  assertEquals(clock.now(), 0);
});

Deno.test("when one is told to wait, all wait", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ clock });
  const refusals = [
    { status: 429, headers: { "retry-after": "20" } },
    { status: 429, body: '{"error":{"code":"insufficient_quota","message":"Retry in 90s"}}' },
  ];
  const streamFn = createOpenAI({ fetch: replayFetch(refusals), limiter, api: "chat" });
  await readReply(streamFn(createRequest("first")));
  const next = limiter.acquire(1, neverAborted).then(() => clock.now());
  await clock.next();
  assertEquals(await next, 20_000);
  await readReply(streamFn(createRequest("A used-up quota is for its owner to see to.")));
  await limiter.acquire(1, neverAborted);
  assertEquals(clock.now(), 20_000);
});

Deno.test("an image counts as the tokens of an image, not as its bytes", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ tokensPerMinute: 10_000, clock });
  const acquired: number[] = [];
  const listening = {
    acquire: (tokens: number, signal: AbortSignal) => {
      acquired.push(tokens);
      return limiter.acquire(tokens, signal);
    },
    observe: () => {},
  };
  const source = { type: "base64", mediaType: "image/png", data: "A".repeat(100_000) } as const;
  const request = createRequest("");
  const message = { role: "user", content: [{ type: "image", source }], timestamp: 0 } as const;
  const streamFn = createOpenAI({
    fetch: replayFetch(createReply(1, 1)),
    limiter: listening,
    api: "chat",
  });
  await readReply(streamFn({ ...request, context: { ...request.context, messages: [message] } }));
  assertEquals(acquired, [1204]);
});

Deno.test("an abort ends a request that waits for its turn, and it is never sent", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ requestsPerMinute: 1, clock });
  await limiter.acquire(1, neverAborted);
  const fetch = replayFetch(createReply(1, 1));
  const controller = new AbortController();
  const streamFn = createOpenAI({ fetch, limiter, api: "chat" });
  const reading = readReply(streamFn({ ...createRequest("x"), signal: controller.signal }));
  await new Promise((resolve) => setTimeout(resolve, 0));
  controller.abort();
  assertEquals((await reading).stopReason, "aborted");
  await clock.next();
  assertEquals(fetch.requests.length, 0);
});

Deno.test("a limit that is told can change, one that was given cannot", async () => {
  const told = (limit: string) => new Headers({ "x-ratelimit-limit-requests": limit });
  const waitOf = async (limiter: RateLimiter, clock: FakeClock) => {
    limiter.observe(told("1"));
    limiter.observe(told("2"));
    await limiter.acquire(1, neverAborted);
    const next = limiter.acquire(1, neverAborted).then(() => clock.now());
    await clock.next();
    return await next;
  };
  const clocks = [new FakeClock(), new FakeClock()] as const;
  assertEquals(await waitOf(new RateLimiter({ clock: clocks[0] }), clocks[0]), 30_000);
  const given = new RateLimiter({ requestsPerMinute: 1, clock: clocks[1] });
  assertEquals(await waitOf(given, clocks[1]), 60_000);
});

Deno.test("a limit that is no number above 0 is refused", () => {
  for (const limit of [0, -1, NaN]) {
    assertThrows(
      () => new RateLimiter({ requestsPerMinute: limit }),
      BadRequestError,
      `requestsPerMinute must be a number above 0, not ${limit}`,
    );
  }
});
