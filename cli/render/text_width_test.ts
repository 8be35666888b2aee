import { assertEquals } from "@std/assert";
import { getEndColumn, getTextWidth, splitToWidth, truncateToWidth } from "./text_width.ts";

Deno.test("getTextWidth(): counts columns, not characters", () => {
  const widths = {
    "": 0,
    "abc": 3,
    "é…—’": 4,
    "世界": 4,
    "한글": 4,
    "ｆ": 2,
    "𗀀": 2, // Tangut
    "👋": 2,
  };
  for (const [text, width] of Object.entries(widths)) assertEquals(getTextWidth(text), width, text);
});

Deno.test("getTextWidth(): adds no column for combining marks, and one for vowels that take space", () => {
  const widths = {
    "e\u0301": 1,
    "กี": 1,
    "กำ": 2,
    "का": 2,
    "नमस्ते": 4,
    "\u1100\u1161\u11a8": 2, // one syllable of Hangul
    "a\u200bb": 2,
  };
  for (const [text, width] of Object.entries(widths)) assertEquals(getTextWidth(text), width, text);
});

Deno.test("getTextWidth(): counts an emoji sequence as one emoji", () => {
  for (const emoji of ["👍🏽", "👨‍👩‍👧", "🤷‍♀", "❤️", "🏳️‍🌈", "🇩🇪", "1️⃣"]) {
    assertEquals(getTextWidth(emoji), 2, emoji);
    assertEquals(getTextWidth(`a${emoji}${emoji}`), 5, emoji);
  }
  assertEquals(getTextWidth("❤"), 1);
});

Deno.test("truncateToWidth(): truncates longer texts between graphemes", () => {
  assertEquals(truncateToWidth("abc", 3), "abc");
  assertEquals(truncateToWidth("abcd", 3), "ab…");
  assertEquals(truncateToWidth("世界世", 5), "世界…");
  assertEquals(truncateToWidth("世界世", 4), "世…");
  assertEquals(truncateToWidth("👨‍👩‍👧👨‍👩‍👧", 3), "👨‍👩‍👧…");
  assertEquals(truncateToWidth("नमस्ते", 3), "नम…");
  assertEquals(truncateToWidth("abc", 1), "…");
  assertEquals(truncateToWidth("abc", 0), "");
  assertEquals(truncateToWidth("abcdef", 5, "..."), "ab...");
  assertEquals(truncateToWidth("abcdef", 2, "..."), "");
});

Deno.test("splitToWidth(): breaks between graphemes, each of which fits or is alone", () => {
  assertEquals(splitToWidth("abc", 3), ["abc"]);
  assertEquals(splitToWidth("abcdefg", 3), ["abc", "def", "g"]);
  assertEquals(splitToWidth("a世界b", 3), ["a世", "界b"]);
  assertEquals(splitToWidth("世界", 1), ["世", "界"]);
  assertEquals(splitToWidth("e\u0301e\u0301", 1), ["e\u0301", "e\u0301"]);
  assertEquals(splitToWidth("", 3), [""]);
});

Deno.test("getEndColumn(): a tab moves to the next multiple of eight columns", () => {
  const columns = {
    "": 3,
    "ab": 5,
    "\t": 8,
    "\ta": 9,
    "a\t\tb": 17,
    "abcde\t": 16,
    "世界\t世": 10,
  };
  for (const [text, column] of Object.entries(columns)) assertEquals(getEndColumn(text, 3), column);
});
