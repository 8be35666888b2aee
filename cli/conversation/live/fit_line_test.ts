import { assertEquals } from "@std/assert";
import { fitLine } from "./fit_line.ts";

Deno.test("fitLine() keeps lines that fit, and the indentation of the others", () => {
  assertEquals(fitLine([{ text: "    code" }], 10), [[{ text: "    code" }]]);
  assertEquals(fitLine([{ text: "one two three" }], 8), [[{ text: "one two" }], [{
    text: "three",
  }]]);
  assertEquals(
    fitLine([{ text: "  one two", role: "faint" }, { text: " three" }], 9).map((row) =>
      row.map(({ text }) => text).join("")
    ),
    ["  one two", "  three"],
  );
  assertEquals(
    fitLine([{ text: "  " }, { text: "one two" }], 7).map((row) =>
      row.map(({ text }) => text).join("")
    ),
    ["  one", "  two"],
  );
  assertEquals(fitLine([], 10), [[]]);
});
