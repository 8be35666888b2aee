import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { setTimeout as sleepUntil } from "node:timers/promises";
import { Agent } from "../../../src/agent/agent.ts";
import { BadRequestError } from "../../../src/core/errors/errors.ts";
import { exponentialBackoff } from "../../../src/core/hooks/retry.ts";
import { userMessage } from "../../../src/core/messages/message.ts";
import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import { ManualClock } from "../../../src/testing/manual_clock.ts";
import { readReply } from "../../../src/testing/read_reply.ts";
import { replayFetch } from "../../../src/testing/replay_fetch.ts";
import { settle } from "../../../tests/conformance/ports.ts";
import { createOpenAI } from "../../openai/mod.ts";
import { RateLimiter } from "./rate_limiter.ts";

/** Advances a clock to the next timer and returns its time. */
async function advance(clock: ManualClock): Promise<number> {
  await settle();
  if (clock.sleepers > 0) clock.advanceToNext();
  await settle();
  return clock.now();
}

const neverAborted = new AbortController().signal;

Deno.test("RateLimiter: delays requests beyond the limit, in order", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ requestsPerMinute: 2, clock });
  const sent: [string, number][] = [];
  const send = (name: string) =>
    limiter.acquire(1, neverAborted).then(() => sent.push([name, clock.now()]));
  const all = Promise.all(["a", "b", "c", "d"].map(send));
  await advance(clock);
  await advance(clock);
  await all;
  assertEquals(sent, [["a", 0], ["b", 0], ["c", 30_000], ["d", 60_000]]);
});

Deno.test("RateLimiter: limits tokens; a request of more than a minute's tokens waits for a full bucket", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  await limiter.acquire(600, neverAborted);
  const second = limiter.acquire(600, neverAborted).then(() => clock.now());
  await advance(clock);
  assertEquals(await second, 12_000);
  const huge = limiter.acquire(5000, neverAborted).then(() => clock.now());
  await advance(clock);
  assertEquals(await huge, 72_000);
});

Deno.test("RateLimiter: a small request does not overtake a large one that waits", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  await limiter.acquire(1000, neverAborted);
  const sent: [string, number][] = [];
  const send = (name: string, tokens: number) =>
    limiter.acquire(tokens, neverAborted).then(() => sent.push([name, clock.now()]));
  const all = Promise.all([send("large", 800), send("small", 10)]);
  for (let step = 0; step < 4; step++) await advance(clock);
  await all;
  assertEquals(sent, [["large", 48_000], ["small", 48_600]]);
});

Deno.test("RateLimiter.observe(): applies the limits in response headers", async () => {
  const clock = new ManualClock();
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
  await advance(clock);
  assertEquals(await next, 20_000);
});

Deno.test("RateLimiter.observe(): applies Anthropic's headers", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ clock });
  limiter.observe(
    new Headers({
      "anthropic-ratelimit-tokens-limit": "1000",
      "anthropic-ratelimit-tokens-remaining": "0",
      "anthropic-ratelimit-tokens-reset": "1970-01-01T00:00:30Z",
    }),
  );
  const next = limiter.acquire(100, neverAborted).then(() => clock.now());
  await advance(clock);
  assertEquals(await next, 30_000);
});

Deno.test("RateLimiter.acquire(): an abort ends the wait, and the next request follows", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ requestsPerMinute: 1, clock });
  await limiter.acquire(1, neverAborted);
  const controller = new AbortController();
  const aborted = limiter.acquire(1, controller.signal);
  const next = limiter.acquire(1, neverAborted).then(() => clock.now());
  controller.abort(new Error("stop"));
  await assertRejects(() => aborted, Error, "stop");
  await advance(clock);
  assertEquals(await next, 60_000);
});

Deno.test("RateLimiter: stream functions with the same limiter share its limit", async () => {
  // Loads the code of the adapter, for which settle() does not wait.
  await readReply(
    createOpenAI({ fetch: replayFetch(createReply(1, 1)), api: "chat" })(createRequest("Hi")),
  );
  const clock = new ManualClock();
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
  await advance(clock);
  assertEquals((await Promise.all(replies)).map(({ text }) => text), ["x", "x"]);
  assertEquals(sentAt, [0, 60_000]);
});

/** Creates a request of one message. */
function createRequest(text: string): StreamRequest {
  return {
    model: { provider: "openai", modelId: "gpt-4o", thinkingLevel: "off" },
    context: { systemPrompt: "", messages: [userMessage(text, 0)], tools: [] },
    options: { apiKey: "k" },
    signal: neverAborted,
  };
}

/** Creates the response of a reply with the given usage; `cached` is part of `input`. */
function createReply(input: number, output: number, cached = 0): string {
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cached },
  };
  return `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n` +
    `data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`;
}

Deno.test("RateLimiter: replaces the estimate with input and output tokens, without cache reads", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  const streamFn = createOpenAI({
    fetch: replayFetch(createReply(700, 60, 600)),
    limiter,
    api: "chat",
  });
  await readReply(streamFn(createRequest("x".repeat(3600))));
  // The request used 100 tokens of input and 60 of output instead of the estimated 900.
  await limiter.acquire(840, neverAborted);
  assertEquals(clock.now(), 0);
  const next = limiter.acquire(1, neverAborted).then(() => clock.now());
  await advance(clock);
  assertEquals(await next, 60);
});

Deno.test("RateLimiter.settle(): ends the current wait when an estimate was too high", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  await limiter.acquire(1000, neverAborted);
  const waiting = limiter.acquire(500, neverAborted).then(() => clock.now());
  await settle();
  limiter.settle(1000, 100);
  assertEquals(await waiting, 0);
});

Deno.test("RateLimiter.settle(): delays the next request when an estimate was too low", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  await limiter.acquire(100, neverAborted);
  limiter.settle(100, 1500);
  const next = limiter.acquire(100, neverAborted).then(() => clock.now());
  await advance(clock);
  assertEquals(await next, 36_000);
});

Deno.test("RateLimiter: a rejected request uses no tokens", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  const streamFn = createOpenAI({ fetch: replayFetch({ status: 429 }), limiter, api: "chat" });
  assertEquals(
    (await readReply(streamFn(createRequest("x".repeat(3600))))).error?.code,
    "model_throttled",
  );
  await limiter.acquire(1000, neverAborted);
  assertEquals(clock.now(), 0);
});

Deno.test("RateLimiter: a request without a response counts with its estimate, since it may have been processed", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock });
  const fetch = replayFetch(new TypeError("connection reset"));
  const streamFn = createOpenAI({ fetch, limiter, api: "chat" });
  const { error } = await readReply(streamFn(createRequest("x".repeat(3600))));
  assertEquals(error?.code, "network_error");
  const next = limiter.acquire(1000, neverAborted).then(() => clock.now());
  await advance(clock);
  assertEquals(await next > 50_000, true);
});

Deno.test("RateLimiter: the retry delay of one request delays all, except for an exhausted quota", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ clock });
  const responses = [
    { status: 429, headers: { "retry-after": "20" } },
    { status: 429, body: '{"error":{"code":"insufficient_quota","message":"Retry in 90s"}}' },
  ];
  const streamFn = createOpenAI({ fetch: replayFetch(responses), limiter, api: "chat" });
  await readReply(streamFn(createRequest("first")));
  const next = limiter.acquire(1, neverAborted).then(() => clock.now());
  await advance(clock);
  assertEquals(await next, 20_000);
  await readReply(streamFn(createRequest("second")));
  await limiter.acquire(1, neverAborted);
  assertEquals(clock.now(), 20_000);
});

Deno.test("RateLimiter: estimates an image by the tokens of an image, not by its bytes", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ tokensPerMinute: 10_000, clock });
  const acquired: number[] = [];
  const recording = {
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
    limiter: recording,
    api: "chat",
  });
  await readReply(streamFn({ ...request, context: { ...request.context, messages: [message] } }));
  assertEquals(acquired, [1204]);
});

Deno.test("RateLimiter: a request that is aborted while it waits is never sent", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ requestsPerMinute: 1, clock });
  await limiter.acquire(1, neverAborted);
  const fetch = replayFetch(createReply(1, 1));
  const controller = new AbortController();
  const streamFn = createOpenAI({ fetch, limiter, api: "chat" });
  const reading = readReply(streamFn({ ...createRequest("x"), signal: controller.signal }));
  await settle();
  controller.abort();
  assertEquals((await reading).stopReason, "aborted");
  await advance(clock);
  assertEquals(fetch.requests.length, 0);
});

Deno.test("RateLimiter.observe(): a reported limit can change, a limit from the options cannot", async () => {
  const createHeaders = (limit: string) => new Headers({ "x-ratelimit-limit-requests": limit });
  const getDelay = async (limiter: RateLimiter, clock: ManualClock) => {
    limiter.observe(createHeaders("1"));
    limiter.observe(createHeaders("2"));
    await limiter.acquire(1, neverAborted);
    const next = limiter.acquire(1, neverAborted).then(() => clock.now());
    await advance(clock);
    return await next;
  };
  const clocks = [new ManualClock(), new ManualClock()] as const;
  assertEquals(await getDelay(new RateLimiter({ clock: clocks[0] }), clocks[0]), 30_000);
  const configured = new RateLimiter({ requestsPerMinute: 1, clock: clocks[1] });
  assertEquals(await getDelay(configured, clocks[1]), 60_000);
});

Deno.test("new RateLimiter(): throws for a limit that is not above 0", () => {
  for (const limit of [0, -1, NaN, "60" as unknown as number]) {
    assertThrows(
      () => new RateLimiter({ requestsPerMinute: limit }),
      BadRequestError,
      `requestsPerMinute must be a number above 0, not ${limit}`,
    );
  }
});

Deno.test("RateLimiter: a retry delay pauses for at most maxPauseMs, with one timer", async () => {
  for (const retryAfter of ["600", "3000000", "99999999999999999999"]) {
    const clock = new ManualClock();
    const limiter = new RateLimiter({ clock, maxPauseMs: 30_000 });
    const fetch = replayFetch([
      { status: 429, headers: { "retry-after": retryAfter } },
      createReply(1, 1),
    ]);
    const streamFn = createOpenAI({ fetch, limiter, api: "chat" });
    await readReply(streamFn(createRequest("first")));
    const next = readReply(streamFn(createRequest("second")));
    await settle();
    assertEquals(clock.sleepers, 1);
    assertEquals(await advance(clock), 30_000);
    assertEquals((await next).text, "x");
  }
});

Deno.test("RateLimiter: an exhausted limit pauses until its reset, for at most 60 seconds by default", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ clock });
  limiter.observe(
    new Headers({
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "24h0m0s",
    }),
  );
  const next = limiter.acquire(1, neverAborted).then(() => clock.now());
  await advance(clock);
  assertEquals(await next, 60_000);
});

Deno.test("RateLimiter: a request whose caller waits less than the pause fails at once", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ clock });
  limiter.pause(20_000);
  const fetch = replayFetch(createReply(1, 1));
  const streamFn = createOpenAI({ fetch, limiter, api: "chat" });
  const { error } = await readReply(streamFn({ ...createRequest("x"), maxWaitMs: 100 }));
  assertEquals([error?.code, error?.retryAfterMs, error?.retryable], [
    "model_throttled",
    20_000,
    true,
  ]);
  assertEquals([fetch.requests.length, clock.now()], [0, 0]);
});

Deno.test("RateLimiter: a wait of a second or more is reported as a warning", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ clock });
  limiter.pause(20_000);
  const streamFn = createOpenAI({ fetch: replayFetch(createReply(1, 1)), limiter, api: "chat" });
  const reading = readReply(streamFn(createRequest("x")));
  await advance(clock);
  const { warnings } = await reading;
  assertEquals(warnings.map(({ code, message, data }) => [code, message, data]), [
    ["rate_limit_wait", "Waiting 20 s for the rate limit", { delayMs: 20_000 }],
  ]);
});

Deno.test("RateLimiter: the retry strategy of an agent limits the pause after its rejected request", async () => {
  const clock = new ManualClock();
  const fetch = replayFetch([
    { status: 429, headers: { "retry-after": "60" } },
    createReply(1, 1),
  ]);
  const agent = new Agent({
    model: "openai/gpt-4o",
    streamFn: createOpenAI({
      fetch,
      limiter: new RateLimiter({ clock }),
      api: "chat",
      apiKey: "k",
    }),
    retry: exponentialBackoff({ maxDelayMs: 100 }),
    now: clock.now,
    sleep: clock.sleep,
  });
  const running = agent.prompt("Hi");
  while (fetch.requests.length < 2) await advance(clock);
  assertEquals((await running).text, "x");
  assertEquals(clock.now() <= 200, true);
});

Deno.test("RateLimiter: with a clock that rejects on abort, actual usage ends a wait instead of failing it", async () => {
  const sleep = (ms: number, signal?: AbortSignal) => sleepUntil(ms, undefined, { signal });
  const limiter = new RateLimiter({ tokensPerMinute: 1000, clock: { now: Date.now, sleep } });
  await limiter.acquire(1000, neverAborted);
  const next = limiter.acquire(500, neverAborted);
  await settle();
  limiter.settle(1000, 0);
  await next;
});

Deno.test("new RateLimiter(): throws for an unknown option and for a negative pause", () => {
  const misspelt: object = { requestPerMinute: 5 };
  assertThrows(
    () => new RateLimiter(misspelt),
    BadRequestError,
    'Unknown option "requestPerMinute" of RateLimiter: did you mean requestsPerMinute?',
  );
  for (const maxPauseMs of [-1, NaN, "5" as unknown as number]) {
    assertThrows(
      () => new RateLimiter({ maxPauseMs }),
      BadRequestError,
      `maxPauseMs must be a number from 0, not ${maxPauseMs}`,
    );
  }
  new RateLimiter({ maxPauseMs: 0, requestsPerMinute: undefined });
});

Deno.test("RateLimiter: a limit that is reset early does not shorten the pause of a rejected request", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ clock });
  limiter.pause(30_000);
  const headers = { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s" };
  limiter.observe(new Headers(headers));
  const acquired = limiter.acquire(1, neverAborted).then(() => clock.now());
  await advance(clock);
  assertEquals(await acquired, 30_000);
});

Deno.test("RateLimiter: the last report of an exhausted limit replaces the earlier one", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ clock });
  for (const reset of ["30s", "2s"]) {
    limiter.observe(
      new Headers({
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": reset,
      }),
    );
  }
  const acquired = limiter.acquire(1, neverAborted).then(() => clock.now());
  await advance(clock);
  assertEquals(await acquired, 2000);
});

Deno.test("RateLimiter: a shorter pause does not end a longer one", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ clock });
  limiter.pause(20_000);
  limiter.pause(5000);
  const next = limiter.acquire(1, neverAborted).then(() => clock.now());
  await advance(clock);
  assertEquals(await next, 20_000);
});
