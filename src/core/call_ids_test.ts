import { assert, assertEquals } from "@std/assert";
import { CallIds } from "./call_ids.ts";

Deno.test("CallIds: assigns a free id unchanged", () => {
  const ids = new CallIds();
  assertEquals(["a", "b", "toolu_01"].map((id) => ids.claim(id)), ["a", "b", "toolu_01"]);
});

Deno.test("CallIds: numbers repeated and empty ids [B22]", () => {
  const ids = new CallIds();
  assertEquals(["a", "a", "a", "", "", "call_1"].map((id) => ids.claim(id)), [
    "a",
    "a_1",
    "a_2",
    "call_1",
    "call_2",
    "call_1_1",
  ]);
});

Deno.test("CallIds: assigns a reserved id only on request", () => {
  const ids = new CallIds(new Set(["a", "a_1"]));
  assertEquals(["a", "a", "a_1"].map((id) => ids.claim(id)), ["a", "a_2", "a_1"]);
});

Deno.test("CallIds: claims an id 100,000 times in linear time", () => {
  const ids = new CallIds();
  const started = performance.now();
  const claimed = new Set(Array.from({ length: 100_000 }, () => ids.claim("call_0")));
  assertEquals(claimed.size, 100_000);
  // Quadratic work takes minutes; the bound allows for a busy machine.
  assert(performance.now() - started < 10_000);
});
