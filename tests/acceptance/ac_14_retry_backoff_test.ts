import { assert, assertEquals } from "@std/assert";
import { exponentialBackoff } from "../../src/core/hooks/retry.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { eventsOfType } from "../conformance/outline.ts";
import { InstantClock, scriptedPorts } from "../conformance/ports.ts";
import { testAgent } from "../conformance/test_agent.ts";

const throttled = fail("model_throttled", "Slow down");

Deno.test("retry: delays double up to maxDelayMs, and the run sleeps for them [AC-14, 6.14]", async () => {
  const clock = new InstantClock();
  const retry = exponentialBackoff({ maxAttempts: 5, maxDelayMs: 3000, jitter: false });
  const { agent } = testAgent([throttled, throttled, throttled, throttled, reply("Hello")], {
    ...scriptedPorts(clock),
    retry,
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(eventsOfType(events, "retry").map(({ delayMs }) => delayMs), [
    1000,
    2000,
    3000,
    3000,
  ]);
  assertEquals(clock.waits, [1000, 2000, 3000, 3000]);
});

Deno.test("retry: three attempts with jittered delays by default [AC-14, 6.14]", async () => {
  const clock = new InstantClock();
  const { agent, streamFn } = testAgent([throttled, throttled, throttled], scriptedPorts(clock));
  const result = await agent.prompt("Hi");
  assertEquals(result.error?.code, "model_throttled");
  const [first = 0, second = 0, ...rest] = clock.waits;
  assertEquals(rest, []);
  assert(first >= 500 && first < 1500 && first !== 1000, `${first} ms`);
  assert(second >= 1000 && second < 3000 && second !== 2000, `${second} ms`);
  streamFn.assertDone();
});
