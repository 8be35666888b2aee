import { assert, assertEquals } from "@std/assert";
import { ManualClock } from "../../testing/manual_clock.ts";
import { RequestFailure } from "../http/problem.ts";
import type { FeedItem } from "../runner/agent_runner.ts";
import { EventStreams } from "./event_streams.ts";

/** Yields nothing. */
async function* createFeed(): AsyncGenerator<readonly FeedItem[], void> {}

Deno.test("EventStreams: a stream whose events can be read only after the end of all streams is refused", async () => {
  const clock = new ManualClock();
  const streams = new EventStreams({ keepAliveMs: 0, clock });
  const { promise, resolve } = Promise.withResolvers<AsyncIterable<readonly FeedItem[]>>();
  let closed = 0;
  const opening = streams.open(() => promise, () => closed++).catch((error) => error);
  const ending = streams.end("shutdown", 2_000);
  clock.advance(2_000);
  await ending;
  resolve(createFeed());
  const failure = await opening;
  assert(failure instanceof RequestFailure);
  assertEquals([failure.problem.code, failure.problem.retryAfterMs], ["shutting_down", 2_000]);
  assertEquals([closed, streams.size], [1, 0]);
});
