import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { UniqueIds } from "./unique_ids.ts";

Deno.test("UniqueIds: assigns a free id unchanged", () => {
  const ids = new UniqueIds();
  assertEquals(["a", "b", "toolu_01"].map((id) => ids.claim(id)), ["a", "b", "toolu_01"]);
});

Deno.test("UniqueIds: numbers repeated and empty ids [B22]", () => {
  const ids = new UniqueIds();
  assertEquals(["a", "a", "a", "", "", "call_1"].map((id) => ids.claim(id)), [
    "a",
    "a_1",
    "a_2",
    "call_1",
    "call_2",
    "call_1_1",
  ]);
});

Deno.test("UniqueIds: assigns a reserved id only on request", () => {
  const ids = new UniqueIds(new Set(["a", "a_1"]));
  assertEquals(["a", "a", "a_1"].map((id) => ids.claim(id)), ["a", "a_2", "a_1"]);
});

Deno.test("UniqueIds: claims an id 100,000 times in linear time", () => {
  const ids = new UniqueIds();
  const getThreadTime = startThreadTimer();
  const claimed = new Set(Array.from({ length: 100_000 }, () => ids.claim("call_0")));
  assertEquals(claimed.size, 100_000);
  // Quadratic work takes minutes; the bound allows for a busy machine.
  assert(getThreadTime() < 10_000);
});
