import { assertEquals } from "@std/assert";
import { fitText, textWidth } from "./text_width.ts";

Deno.test("textWidth() counts columns, not characters", () => {
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
  for (const [text, width] of Object.entries(widths)) assertEquals(textWidth(text), width, text);
});

Deno.test("fitText() leaves what fits, and cuts between characters", () => {
  assertEquals(fitText("abc", 3), "abc");
  assertEquals(fitText("abcd", 3), "ab…");
  assertEquals(fitText("世界世", 5), "世界…");
  assertEquals(fitText("世界世", 4), "世…");
  assertEquals(fitText("👨‍👩‍👧👨‍👩‍👧", 3), "👨‍👩‍👧…");
  assertEquals(fitText("abc", 1), "…");
  assertEquals(fitText("abc", 0), "");
});
