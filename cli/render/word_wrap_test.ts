import { assert, assertEquals } from "@std/assert";
import { seededRandom } from "../../src/testing/mod.ts";
import { getTextWidth } from "./text_width.ts";
import { WordWrap } from "./word_wrap.ts";

function wrapAll(text: string, columns: number): string {
  const wrap = new WordWrap(() => columns);
  return wrap.push(text) + wrap.flush();
}

Deno.test("WordWrap: breaks lines before the word that does not fit", () => {
  assertEquals(wrapAll("one two three four", 9), "one two\nthree\nfour");
  assertEquals(wrapAll("one two\nthree", 20), "one two\nthree");
  assertEquals(wrapAll("a  b", 20), "a  b");
  assertEquals(wrapAll("unbreakably-long word", 5), "unbreakably-long\nword");
});

Deno.test("WordWrap: removes spaces at a break and keeps others", () => {
  assertEquals(wrapAll("one two  \nthree", 8), "one two\nthree");
});

Deno.test("WordWrap: indents the continued rows of a list item and of an indented line", () => {
  assertEquals(wrapAll("- item one two", 10), "- item one\n  two");
  assertEquals(
    wrapAll("- a\n    - nested item\n10. ten eleven", 14),
    "- a\n    - nested\n      item\n10. ten eleven",
  );
  assertEquals(wrapAll("  some words\nno indent", 8), "  some\n  words\nno\nindent");
});

Deno.test("WordWrap: omits an indentation of more than half of a narrow terminal", () => {
  assertEquals(wrapAll("  - one two", 8), "  - one\n    two");
  assertEquals(wrapAll("  - one two", 7), "  - one\ntwo");
});

Deno.test("WordWrap: a tab takes the columns up to the next tab stop", () => {
  assertEquals(wrapAll("a\tb cd", 11), "a\tb\ncd");
  assertEquals(wrapAll("a\tb cd", 12), "a\tb cd");
  assertEquals(wrapAll("\tindented code", 10), "\tindented code");
  assertEquals(wrapAll("-\titem one two", 16), "-\titem one\n  two");
});

Deno.test("WordWrap: restartRow() continues in the first column", () => {
  const wrap = new WordWrap(() => 12);
  assertEquals(wrap.push("one two "), "one two");
  wrap.restartRow();
  assertEquals(wrap.push("three four six ") + wrap.flush(), "three four\nsix ");
});

Deno.test("WordWrap: follows a change of the width", () => {
  let columns = 20;
  const wrap = new WordWrap(() => columns);
  const before = wrap.push("one two three\n");
  columns = 8;
  assertEquals(
    before + wrap.push("one two three ") + wrap.flush(),
    "one two three\none two\nthree ",
  );
});

Deno.test("WordWrap: does not wrap code", () => {
  const fenced = "```ts\nconst long = 'longer than the line';\n```\nthen words again";
  assertEquals(
    wrapAll(fenced, 12),
    "```ts\nconst long = 'longer than the line';\n```\nthen words\nagain",
  );
  assertEquals(wrapAll("    indented code here", 10), "    indented code here");
});

Deno.test("WordWrap: breaks scripts without spaces between characters", () => {
  assertEquals(wrapAll("世界世界世", 4), "世界\n世界\n世");
  assertEquals(wrapAll("abc世def", 4), "abc\n世\ndef");
});

Deno.test("WordWrap: breaks between emoji, but not within a sequence", () => {
  assertEquals(wrapAll("👨‍👩‍👧👍🏽👋", 4), "👨‍👩‍👧👍🏽\n👋");
  assertEquals(wrapAll("hello 👨‍👩‍👧👋", 9), "hello 👨‍👩‍👧\n👋");
});

Deno.test("WordWrap: does not break syllables that take two columns", () => {
  assertEquals(wrapAll("मैं नमस्ते", 4), "मैं\nनमस्ते");
});

Deno.test("WordWrap: buffers a word until it is complete", () => {
  const wrap = new WordWrap(() => 20);
  assertEquals([wrap.push("one tw"), wrap.push("o thr"), wrap.flush()], ["one", " two", " thr"]);
});

Deno.test("WordWrap: returns the same lines when the text is split anywhere", () => {
  const random = seededRandom(7);
  const characters = [..."abcdefg世👨‍👩‍👧👍🏽h"];
  for (let run = 0; run < 200; run++) {
    const words = Array.from(
      { length: 30 },
      () => characters.slice(0, 1 + Math.floor(random() * characters.length)).join(""),
    );
    const text = words.map((word) => word + (random() < 0.1 ? "\n" : " ")).join("");
    const expected = wrapAll(text, 24);
    const wrap = new WordWrap(() => 24);
    let inChunks = "";
    for (let at = 0; at < text.length;) {
      const end = at + 1 + Math.floor(random() * 6);
      inChunks += wrap.push(text.slice(at, end));
      at = end;
    }
    assertEquals(inChunks + wrap.flush(), expected);
    assertEquals(expected.replace(/\s/g, ""), text.replace(/\s/g, ""));
    for (const line of expected.split("\n")) assert(getTextWidth(line.trimEnd()) <= 24, line);
  }
});
