import { assertEquals } from "@std/assert";
import { TextCache } from "./text_cache.ts";

/** Creates a cache with the values 1 to 500, by their texts. */
function createFullCache(): TextCache<number> {
  const cache = new TextCache<number>();
  for (let value = 1; value <= 500; value++) cache.set(String(value), value);
  return cache;
}

Deno.test("TextCache: keeps 500 values and removes the oldest one when another is added", () => {
  const cache = createFullCache();
  assertEquals([cache.get("1"), cache.get("500")], [1, 500]);
  const other = createFullCache();
  other.set("501", 501);
  assertEquals(["1", "2", "501"].map((text) => other.get(text)), [undefined, 2, 501]);
});

Deno.test("TextCache: keeps the values that were used last", () => {
  const cache = createFullCache();
  cache.get("1");
  cache.set("2", 20);
  cache.set("501", 501);
  assertEquals(["1", "2", "3", "4"].map((text) => cache.get(text)), [1, 20, undefined, 4]);
});
