import { assert, assertEquals } from "@std/assert";
import { createWordQuery, listWords } from "./word_index.ts";

Deno.test("listWords(): lists the words, in lower case", () => {
  assertEquals(listWords("The cat, the Hat\0 src/a.ts É"), "the cat the hat src a ts é");
  assertEquals(listWords("?! …"), null);
});

Deno.test("listWords(): keeps within the limits of Postgres, and marks entries with more words", () => {
  assertEquals(listWords("a".repeat(5_000)), "a".repeat(200));
  const many = Array.from({ length: 40_000 }, (_, number) => `word${number}`).join(" ");
  assertEquals(listWords(`${"word ".repeat(60_000)}end`), "word end");
  const list = listWords(many) ?? "";
  assert(list.length <= 250_000);
  assert(list.endsWith(" …"));
});

Deno.test("createWordQuery(): matches beginnings of words, and entries with more words than the index has", () => {
  assertEquals(createWordQuery(["find", "é"]), "('find':* & 'é':*) | '…'");
  assertEquals(createWordQuery(["a".repeat(300)]), `('${"a".repeat(200)}':*) | '…'`);
});
