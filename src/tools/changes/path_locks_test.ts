import { assertEquals, assertRejects } from "@std/assert";
import { PathLocks } from "./path_locks.ts";

Deno.test("PathLocks: runs tasks of one path in order, tasks of another path concurrently", async () => {
  const locks = new PathLocks();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = locks.run("a", async () => {
    log.push("a1 starts");
    await gate.promise;
    log.push("a1 ends");
  });
  const second = locks.run("a", () => Promise.resolve(log.push("a2")));
  await locks.run("b", () => Promise.resolve(log.push("b")));
  gate.resolve();
  await Promise.all([first, second]);
  assertEquals(log, ["a1 starts", "b", "a1 ends", "a2"]);
});

Deno.test("PathLocks: runs the next task after one rejects", async () => {
  const locks = new PathLocks();
  const failing = locks.run("a", () => Promise.reject(new Error("no")));
  const next = locks.run("a", () => Promise.resolve("ran"));
  await assertRejects(() => failing, Error, "no");
  assertEquals(await next, "ran");
});
