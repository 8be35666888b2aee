import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  CHUNK_BYTES,
  createBuffer,
  HEARTBEAT_MS,
  HeartbeatWatch,
  receiveText,
  sendText,
  startHeartbeat,
} from "./sync_channel.ts";

Deno.test("receiveText() reports a worker that does not start", () => {
  const limits = { timeoutMs: Infinity, startMs: 200, heartbeatMs: Infinity };
  assertEquals(receiveText(createBuffer(), limits), { type: "lost", hasStarted: false });
});

Deno.test("sendText(), receiveText(): a text that fills a chunk exactly is complete", () => {
  const limits = { timeoutMs: 1000, startMs: Infinity, heartbeatMs: Infinity };
  for (const text of ["é", "x".repeat(CHUNK_BYTES)]) {
    const buffer = createBuffer();
    sendText(buffer, text);
    assertEquals(receiveText(buffer, limits), { type: "complete", text });
  }
});

Deno.test("receiveText() reports a timeout", () => {
  const limits = { timeoutMs: 1, startMs: Infinity, heartbeatMs: Infinity };
  assertEquals(receiveText(createBuffer(), limits), { type: "timeout" });
});

Deno.test("HeartbeatWatch reports a loss after as many consecutive missing beats as the limit allows", () => {
  using time = new FakeTime();
  const buffer = createBuffer();
  const watch = new HeartbeatWatch(buffer, { startMs: 300, heartbeatMs: 200 });
  const lookAfter = (beats: number): boolean => {
    time.tick(beats * HEARTBEAT_MS);
    return watch.isLost();
  };
  const beforeStart = [0, 0].map(lookAfter);
  startHeartbeat(buffer);
  assertEquals([...beforeStart, ...[0, 0, 1, 0, 1, 2, 0, 0].map(lookAfter)], [
    ...[false, false, false, false, false, false, false, false, false, true],
  ]);
});

Deno.test("HeartbeatWatch reports a worker that does not start in time", () => {
  const watch = new HeartbeatWatch(createBuffer(), { startMs: 300, heartbeatMs: 200 });
  assertEquals([1, 2, 3].map(() => watch.isLost()), [false, false, true]);
  assertEquals(watch.hasStarted, false);
});
