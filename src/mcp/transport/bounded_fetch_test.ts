import { assertEquals, assertRejects } from "@std/assert";
import { ManualClock } from "../../testing/manual_clock.ts";
import { createBoundedFetch } from "./bounded_fetch.ts";

Deno.test("createBoundedFetch(): an abort ends a body that the abort of its request does not end", async () => {
  let reason: unknown;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(": working\n\n")),
    cancel: (cancelled) => {
      reason = cancelled;
    },
  });
  const fetch = createBoundedFetch({
    fetch: () =>
      Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } })),
    maxMessageBytes: 1_000,
    clock: new ManualClock(),
    signal: new AbortController().signal,
    onResponse: () => {},
  });
  const controller = new AbortController();
  const response = await fetch("https://mcp.example", { signal: controller.signal });
  const reader = response.body?.getReader();
  assertEquals((await reader?.read())?.done, false);
  const reading = reader?.read() ?? Promise.resolve();
  controller.abort(new Error("stop"));
  await assertRejects(() => reading, Error, "stop");
  assertEquals(String(reason), "Error: stop");
});
