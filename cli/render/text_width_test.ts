import { assertEquals } from "@std/assert";
import { getTextWidth, truncateToWidth } from "./text_width.ts";

Deno.test("getTextWidth(): counts columns, not characters", () => {
  const widths = {
    "abc": 3,
    "é": 1,
    "e\u0301": 1,
    "世界": 4,
    "👋": 2,
    "👨‍👩‍👧": 2,
    "한글": 4,
    "…": 1,
    "": 0,
  };
  for (const [text, width] of Object.entries(widths)) assertEquals(getTextWidth(text), width, text);
});

Deno.test("truncateToWidth(): truncates longer texts between graphemes", () => {
  assertEquals(truncateToWidth("abc", 3), "abc");
  assertEquals(truncateToWidth("abcd", 3), "ab…");
  assertEquals(truncateToWidth("世界世", 5), "世界…");
  assertEquals(truncateToWidth("世界世", 4), "世…");
  assertEquals(truncateToWidth("👨‍👩‍👧👨‍👩‍👧", 3), "👨‍👩‍👧…");
  assertEquals(truncateToWidth("abc", 1), "…");
  assertEquals(truncateToWidth("abc", 0), "");
});
