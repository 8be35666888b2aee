import { assertEquals } from "@std/assert";
import { hashText } from "./hash_text.ts";

Deno.test("hashText(): returns the published values of FNV-1a", () => {
  assertEquals(["", "a", "foobar"].map(hashText), [0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
});
