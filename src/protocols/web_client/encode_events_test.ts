import { assertEquals, assertRejects } from "@std/assert";
import { encodeEvents } from "./encode_events.ts";

Deno.test("encodeEvents(): an event that cannot be written as JSON aborts the run", async () => {
  let isCancelled = false;
  const events = new ReadableStream<object>({
    start: (controller) => controller.enqueue({ count: 1n }),
    cancel: () => {
      isCancelled = true;
    },
  });
  const body = encodeEvents(events, { keepAliveMs: 0, sleep: () => new Promise(() => {}) });
  await assertRejects(() => new Response(body).text(), TypeError);
  assertEquals(isCancelled, true);
});
