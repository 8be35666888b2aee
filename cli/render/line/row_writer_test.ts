import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { getTextWidth, splitGraphemes } from "../text_width.ts";
import type { Line, Span } from "./line.ts";
import { getLineWidth } from "./line_width.ts";
import { RowWriter } from "./row_writer.ts";
import { wrapLine } from "./wrap_line.ts";

function toText(line: Line): string {
  return line.map(({ text }) => text).join("");
}

function wrapText(text: string, columns: number): string[] {
  return wrapLine([{ text }], { columns }).map(toText);
}

Deno.test("wrapLine(): breaks before the word that does not fit", () => {
  assertEquals(wrapText("one two three four", 9), ["one two", "three", "four"]);
  assertEquals(wrapText("one two", 20), ["one two"]);
  assertEquals(wrapText("a  b", 20), ["a  b"]);
  assertEquals(wrapText("", 20), [""]);
  assertEquals(wrapText("one\ntwo\n\nthree", 20), ["one", "two", "", "three"]);
});

Deno.test("wrapLine(): breaks a word that is wider than the row", () => {
  assertEquals(wrapText("see abcdefghij now", 5), ["see", "abcde", "fghij", "now"]);
  assertEquals(wrapText("see abcdefgh now", 5), ["see", "abcde", "fgh", "now"]);
  assertEquals(wrapText("abcdefgh a", 5), ["abcde", "fgh a"]);
});

Deno.test("wrapLine(): breaks between wide characters, but not before closing punctuation", () => {
  assertEquals(wrapText("世界世界世", 4), ["世界", "世界", "世"]);
  assertEquals(wrapText("abc世def", 4), ["abc", "世", "def"]);
  assertEquals(wrapText("你好世界。", 8), ["你好世", "界。"]);
  assertEquals(wrapText("你好（世界", 6), ["你好", "（世界"]);
  assertEquals(wrapText("你好世界.", 8), ["你好世", "界."]);
  assertEquals(wrapText("👨‍👩‍👧👍🏽👋", 4), ["👨‍👩‍👧👍🏽", "👋"]);
});

Deno.test("wrapLine(): writes a prefix before each row and counts its columns", () => {
  const rows = wrapLine([{ text: "one two three" }], {
    columns: 9,
    first: [{ text: "1. " }],
    next: [{ text: "   " }],
  });
  assertEquals(rows.map(toText), ["1. one", "   two", "   three"]);
});

Deno.test("wrapLine(): a word of several styles stays on one row", () => {
  const line = [{ text: "an " }, { text: "emphasized", italic: true }, { text: ", word" }];
  assertEquals(wrapLine(line, { columns: 12 }), [
    [{ text: "an" }],
    [{ text: "emphasized", italic: true }, { text: "," }],
    [{ text: "word" }],
  ]);
});

Deno.test("wrapLine(): a prefix as wide as the terminal leaves two columns for text", () => {
  const rows = wrapLine([{ text: "世界" }], { columns: 4, first: [{ text: "----" }] });
  assertEquals(rows.map(toText), ["----世", "界"]);
});

const words = fc.array(
  fc.constantFrom(
    "a",
    "word",
    "longer",
    "extraordinarily",
    "世界",
    "👨‍👩‍👧",
    "e\u0301",
    "é",
    "。",
    "(",
    "\n",
  ),
  { maxLength: 30 },
);

const spans = fc.array(
  fc.record({
    text: words.map((list) => list.join(" ").replaceAll(" é", "é")),
    bold: fc.boolean(),
  }),
  { maxLength: 5 },
);

Deno.test("RowWriter: rows fit, keep all text, and do not depend on the division of the text", () => {
  fc.assert(
    fc.property(spans, fc.integer({ min: 2, max: 40 }), fc.nat(6), (line, columns, prefix) => {
      const options = {
        columns,
        first: [{ text: "-".repeat(Math.min(prefix, columns - 2)) }],
        next: [{ text: " ".repeat(Math.min(prefix + 1, columns - 2)) }],
      };
      const rows = wrapLine(line, options);
      for (const row of rows) assert(getLineWidth(row) <= columns, JSON.stringify(rows));
      const source = line.map(({ text }) => text).join("").replace(/\s/g, "");
      assertEquals(rows.map(toText).join("").replace(/[\s-]/g, ""), source);
      const writer = new RowWriter({
        getColumns: () => columns,
        getPrefix: (row) => row === 0 ? options.first : options.next,
      });
      const divided: Line[] = [];
      for (const part of line.flatMap(divideSpan)) {
        const preview = writer.preview([part]);
        const written = writer.write([part]);
        assertEquals(preview.slice(0, written.length), written);
        divided.push(...written);
      }
      assertEquals([...divided, ...writer.end()], rows);
    }),
    { numRuns: 300 },
  );
});

/** Divides a span between all graphemes. */
function divideSpan(span: Span): Span[] {
  return splitGraphemes(span.text).map((text) => ({ ...span, text }));
}

Deno.test("RowWriter: takes time in proportion to a word without spaces", () => {
  const writer = new RowWriter({ getColumns: () => 80 });
  let rows = 0;
  for (let part = 0; part < 1_000; part++) {
    rows += writer.write([{ text: "x".repeat(1_000) }]).length;
  }
  assertEquals(rows + writer.end().length, 12_500);
});

Deno.test("RowWriter: text of narrow scripts has the width of its characters", () => {
  for (const text of ["Größe", "Ελληνικά", "Привет", "“quoted” – and…", "§ 5 ½"]) {
    assertEquals(getTextWidth(text), text.length, text);
  }
});
