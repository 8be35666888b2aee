import { assertEquals, assertGreater, assertLess } from "@std/assert";
import type { StoredEvent } from "./event_storage.ts";
import { KeptEvents, ReadLimit } from "./kept_events.ts";

function createEvents(count: number, length: number): StoredEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "event",
    event: { text: ["x".repeat(length)] },
    key: "",
    number: index + 1,
  }));
}

Deno.test("KeptEvents: the number and the length of the records are limited", () => {
  const small = new KeptEvents();
  small.add(createEvents(2_048, 10));
  assertEquals(small.first, 1);
  small.add([{ type: "end", number: 2_049 }]);
  assertEquals(small.first, 1_026);
  assertEquals(small.takeBatch(2_049), [{ type: "end", number: 2_049 }]);

  const large = new KeptEvents();
  for (const event of createEvents(100, 1_000_000)) large.add([event]);
  assertGreater(large.first ?? 0, 80);
  assertLess(large.first ?? 0, 100);
  const huge = new KeptEvents();
  huge.add(createEvents(1, 20_000_000));
  assertEquals([huge.first, huge.takeBatch(2)], [undefined, []]);
});

Deno.test("KeptEvents: a reader gets records of a limited number and length at once, and at least one", () => {
  const kept = new KeptEvents();
  kept.add(createEvents(600, 10));
  assertEquals([kept.takeBatch(1).length, kept.takeBatch(501).length], [256, 100]);
  const large = new KeptEvents();
  large.add(createEvents(5, 400_000));
  assertEquals(large.takeBatch(1).map(({ number }) => number), [1, 2]);
  const huge = new KeptEvents();
  huge.add(createEvents(3, 4_000_000));
  assertEquals(huge.takeBatch(2).map(({ number }) => number), [2]);
});

Deno.test("ReadLimit: the number of records grows with small ones, and falls with large ones", () => {
  const limit = new ReadLimit();
  assertEquals(limit.value, 16);
  for (const expected of [32, 64, 128, 256, 256]) {
    limit.adapt(createEvents(4, 10));
    assertEquals(limit.value, expected);
  }
  limit.adapt(createEvents(100, 20_000));
  assertEquals(limit.value, 24);
  limit.adapt(createEvents(1, 9_000_000));
  assertEquals(limit.value, 1);
});
