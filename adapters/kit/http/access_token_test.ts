import { assertEquals, assertRejects } from "@std/assert";
import { AuthError } from "../../../src/core/errors/errors.ts";
import { ManualClock } from "../../../src/testing/manual_clock.ts";
import { AccessTokenCache } from "./access_token.ts";

const MINUTE_MS = 60_000;

/** Returns the times in milliseconds at which tokens of a lifetime are requested, when one is needed every second. */
async function findRequestTimes(lifetimeMs: number, untilMs: number): Promise<number[]> {
  const clock = new ManualClock();
  const times: number[] = [];
  const cache = new AccessTokenCache(() => {
    times.push(clock.now());
    return { token: "t", expiresOnTimestamp: clock.now() + lifetimeMs };
  }, clock);
  for (; clock.now() <= untilMs; clock.advance(1000)) await cache.get();
  return times;
}

Deno.test("AccessTokenCache: a token is refreshed when a tenth of its lifetime is left, at most five minutes before it expires", async () => {
  assertEquals(await findRequestTimes(MINUTE_MS, 110_000), [0, 54_000, 108_000]);
  assertEquals(await findRequestTimes(60 * MINUTE_MS, 56 * MINUTE_MS), [0, 55 * MINUTE_MS]);
  assertEquals(await findRequestTimes(0, 2000), [0, 1000, 2000]);
  assertEquals(await findRequestTimes(-MINUTE_MS, 2000), [0, 1000, 2000]);
});

Deno.test("AccessTokenCache: a text has no known expiry and is requested every time", async () => {
  let count = 0;
  const cache = new AccessTokenCache(() => `t${count++}`, new ManualClock());
  assertEquals([await cache.get(), await cache.get()], ["t0", "t1"]);
});

Deno.test("AccessTokenCache: concurrent callers share one request, and a failed one is not cached", async () => {
  const answers = [null, { token: "t", expiresOnTimestamp: MINUTE_MS }];
  let count = 0;
  const cache = new AccessTokenCache(
    () => Promise.resolve(answers[count++] ?? null),
    new ManualClock(),
  );
  await assertRejects(() => cache.get(), AuthError, "getToken returned no token");
  assertEquals(await Promise.all([cache.get(), cache.get()]), ["t", "t"]);
  assertEquals(count, 2);
});
