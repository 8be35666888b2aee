import { assertEquals } from "@std/assert";
import { toLine, toLines, toLineText, toPromptLines } from "./lines.ts";

Deno.test("toLines(), toPromptLines(): tabs, as in the output of git status, become spaces", () => {
  assertEquals(toLines("a\tb\n\tc\n").map(toLineText), ["a    b", "    c"]);
  assertEquals(toPromptLines("a\n\tb", ">").map(toLineText), ["> a", "      b"]);
  assertEquals(toLine("a\tb", "faint"), [{ text: "a    b", role: "faint" }]);
});
