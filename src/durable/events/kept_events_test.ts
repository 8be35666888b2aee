import { assertEquals, assertGreater, assertLess } from "@std/assert";
import type { StoredEvent } from "./event_storage.ts";
import { KeptEvents } from "./kept_events.ts";

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
