import { assertEquals } from "@std/assert";
import { TextCache } from "./text_cache.ts";

Deno.test("TextCache: keeps the 500 values that were used last", () => {
  const cache = new TextCache<number>();
  for (let value = 0; value < 500; value++) cache.set(`text ${value}`, value);
  assertEquals(cache.get("text 0"), 0);
  cache.set("text 500", 500);
  assertEquals([cache.get("text 0"), cache.get("text 1"), cache.get("text 500")], [
    0,
    undefined,
    500,
  ]);
});

Deno.test("TextCache: a value that is set again replaces the earlier one", () => {
  const cache = new TextCache<string>();
  cache.set("text", "first");
  cache.set("text", "second");
  assertEquals(cache.get("text"), "second");
});
