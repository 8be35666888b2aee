import { assertEquals } from "@std/assert";
import { createBuffer, HeartbeatWatch, receiveText } from "./sync_channel.ts";

Deno.test("receiveText() reports a worker that does not start", () => {
  const limits = { timeoutMs: Infinity, startMs: 200, heartbeatMs: Infinity };
  assertEquals(receiveText(createBuffer(), limits), { type: "lost", hasStarted: false });
});

Deno.test("receiveText() reports a timeout", () => {
  const limits = { timeoutMs: 1, startMs: Infinity, heartbeatMs: Infinity };
  assertEquals(receiveText(createBuffer(), limits), { type: "timeout" });
});

Deno.test("HeartbeatWatch reports a loss after as many consecutive missing beats as the limit allows", () => {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const watch = new HeartbeatWatch(beats, { startMs: 300, heartbeatMs: 200 });
  const look = (newBeats: number): boolean => {
    Atomics.add(beats, 0, newBeats);
    return watch.isLost();
  };
  assertEquals([0, 0, 1, 0, 1, 2, 0, 0].map(look), [
    ...[false, false, false, false, false, false, false, true],
  ]);
});

Deno.test("HeartbeatWatch reports a worker that does not start in time", () => {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const watch = new HeartbeatWatch(beats, { startMs: 300, heartbeatMs: 200 });
  assertEquals([1, 2, 3].map(() => watch.isLost()), [false, false, true]);
  assertEquals(watch.hasStarted, false);
});
