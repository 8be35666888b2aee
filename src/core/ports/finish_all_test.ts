import { assertEquals, assertRejects } from "@std/assert";
import { createDeferred } from "./deferred.ts";
import { finishAll } from "./finish_all.ts";

Deno.test("finishAll(): resolves with the values in their order", async () => {
  assertEquals(await finishAll([Promise.resolve(1), "two", Promise.resolve(null)]), [
    1,
    "two",
    null,
  ]);
});

Deno.test("finishAll(): rejects with the first error, after all promises have settled", async () => {
  const { promise, resolve } = createDeferred();
  const order: string[] = [];
  const other = promise.then(() => order.push("other"));
  const finished = finishAll([Promise.reject(new Error("first")), other])
    .finally(() => order.push("finished"));
  resolve();
  await assertRejects(() => finished, Error, "first");
  assertEquals(order, ["other", "finished"]);
});
