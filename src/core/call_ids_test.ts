import { assert, assertEquals } from "@std/assert";
import { CallIds } from "./call_ids.ts";

Deno.test("an id that nobody has is given as it is wanted", () => {
  const ids = new CallIds();
  assertEquals(["a", "b", "toolu_01"].map((id) => ids.claim(id)), ["a", "b", "toolu_01"]);
});

Deno.test("B 22 an id that comes again gets a number, an empty one a name", () => {
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

Deno.test("a reserved id goes only to the one that asks for it", () => {
  const ids = new CallIds(new Set(["a", "a_1"]));
  assertEquals(["a", "a", "a_1"].map((id) => ids.claim(id)), ["a", "a_2", "a_1"]);
});

Deno.test("a hundred thousand equal ids cost no more each than one", () => {
  const ids = new CallIds();
  const started = performance.now();
  const claimed = new Set(Array.from({ length: 100_000 }, () => ids.claim("call_0")));
  assertEquals(claimed.size, 100_000);
  assert(performance.now() - started < 2000);
});
