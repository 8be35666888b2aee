import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { cutStyledText, EMPTY_ROW, extendRow, getStyledWidth } from "./styled_text.ts";

Deno.test("cutStyledText() cuts to columns and ends the style", () => {
  assertEquals(cutStyledText("short", 5), "short");
  assertEquals(cutStyledText("longer", 5), "long…");
  assertEquals(cutStyledText("\x1b[1mlonger\x1b[22m", 5), "\x1b[1mlong…\x1b[m");
  assertEquals(cutStyledText("한글한", 5), "한글…");
  assertEquals(cutStyledText("한글한", 4), "한…");
  assertEquals(cutStyledText("a\tb\nc\x1b[2J", 20), "a b c[2J");
  assertEquals(cutStyledText("\x1b[31mred", 10), "\x1b[31mred\x1b[m");
  const link = "\x1b]8;;https://example.com\x1b\\";
  assertEquals(cutStyledText(`${link}longer\x1b]8;;\x1b\\`, 5), `${link}long…\x1b]8;;\x1b\\`);
  assertEquals(cutStyledText("text", 0), "");
  // A terminal that shows the characters of the emoji separately does not break the row.
  assertEquals(cutStyledText("123👍🏽abc", 8), "123👍🏽…");
});

Deno.test("cutStyledText() never returns more columns than asked for, and cuts only what is too long", () => {
  const text = fc.array(
    fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("\x1b[1m", "\x1b[m", "한", "👍🏽")),
  ).map((parts) => parts.join(""));
  fc.assert(fc.property(text, fc.nat({ max: 30 }), (text, columns) => {
    const cut = cutStyledText(text, columns);
    assert(getStyledWidth(cut) <= columns);
    if (getStyledWidth(text) <= columns && columns > 0 && !/[\t\n]|\p{Emoji}\p{M}|👍/u.test(text)) {
      assertEquals(getStyledWidth(cut), getStyledWidth(text));
    }
  }));
});

Deno.test("extendRow() returns the last row with the style that begins before it", () => {
  const { row } = extendRow(EMPTY_ROW, "0123\x1b[1m456789abc", 10);
  assertEquals(row, { text: "\x1b[1mabc", end: "\x1b[m", width: 3, rowsBefore: 1 });
  assertEquals(extendRow(row, "\x1b[22md", 10).row, {
    text: "\x1b[1mabc\x1b[22md",
    end: "",
    width: 4,
    rowsBefore: 1,
  });
});

Deno.test("extendRow() does not fill a row with an emoji whose width differs between terminals", () => {
  assertEquals(extendRow(EMPTY_ROW, "12345👍🏽a", 10).rest, "");
  assertEquals(extendRow(EMPTY_ROW, "12345👍🏽abcd", 10), {
    row: { text: "12345👍🏽a", end: "", width: 8, rowsBefore: 0 },
    rest: "bcd",
  });
  assertEquals(extendRow(EMPTY_ROW, "123456789👍", 10).row.rowsBefore, 1);
});
