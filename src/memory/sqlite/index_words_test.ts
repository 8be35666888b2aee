import { assertEquals } from "@std/assert";
import { encodeWord, toIndexText } from "./index_words.ts";

Deno.test("toIndexText() has each word once, with only ASCII letters and digits", () => {
  assertEquals(toIndexText("The the Café, e\u0301clair 42!"), "the caf00e9 00e9clair 42");
  assertEquals(toIndexText("?!"), "");
});

Deno.test("encodeWord(): the code of a word begins with that of its beginning", () => {
  const word = "stra\u00dfe\u{1e922}\u{1e922}";
  for (let length = 1; length < word.length; length++) {
    assertEquals(encodeWord(word).startsWith(encodeWord(word.slice(0, length))), true);
  }
});
