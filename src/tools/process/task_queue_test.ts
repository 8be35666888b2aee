import { assertEquals, assertRejects } from "@std/assert";
import { TaskQueue } from "./task_queue.ts";

const { signal } = new AbortController();

Deno.test("TaskQueue: runs tasks in order, no more than the limit at the same time", async () => {
  const queue = new TaskQueue(2);
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const started: number[] = [];
  const results = gates.map(({ promise }, index) =>
    queue.run(async () => {
      started.push(index);
      await promise;
      if (index === 1) throw new Error("failed");
      return index;
    }, signal)
  );
  assertEquals(started, [0, 1]);
  gates[1]?.resolve();
  await assertRejects(async () => await results[1], Error, "failed");
  assertEquals(started, [0, 1, 2]);
  for (const gate of gates) gate.resolve();
  assertEquals(await Promise.all([results[0], results[2], results[3]]), [0, 2, 3]);
  assertEquals(await queue.run(() => Promise.resolve(5), signal), 5);
});

Deno.test("TaskQueue: an abort removes a task that waits", async () => {
  const queue = new TaskQueue(1);
  const gate = Promise.withResolvers<void>();
  const controller = new AbortController();
  const first = queue.run(() => gate.promise, signal);
  let hasRun = false;
  const waiting = queue.run(() => Promise.resolve(hasRun = true), controller.signal);
  controller.abort(new Error("cancelled"));
  await assertRejects(() => waiting, Error, "cancelled");
  await assertRejects(() => queue.run(() => gate.promise, controller.signal), Error, "cancelled");
  gate.resolve();
  await first;
  await queue.run(() => Promise.resolve(), signal);
  assertEquals(hasRun, false);
});
