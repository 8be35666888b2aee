import { assertEquals, assertRejects } from "@std/assert";
import { TaskQueue } from "./task_queue.ts";

Deno.test("TaskQueue: runs tasks one after the other, also after a failure", async () => {
  const queue = new TaskQueue();
  const log: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = queue.run(async () => {
    await promise;
    log.push("first");
    throw new Error("failed");
  });
  const second = queue.run(() => Promise.resolve(log.push("second")));
  log.push("started");
  resolve();
  await assertRejects(() => first, Error, "failed");
  assertEquals(await second, 3);
  assertEquals(log, ["started", "first", "second"]);
});
