import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors.ts";
import { applyEdits } from "./apply_edits.ts";
import { seededRandom } from "../../../tests/sandbox/test_workspace.ts";

function applyOneEdit(
  text: string,
  old_string: string,
  new_string: string,
  more: object = {},
): string {
  return applyEdits(text, [{ old_string, new_string, ...more }]);
}

function getEditError(text: string, old_string: string): string {
  return assertThrows(() => applyOneEdit(text, old_string, "new"), BadRequestError).message;
}

Deno.test("line endings of the file are kept, whatever the edit has", () => {
  assertEquals(applyOneEdit("a\r\nb\r\nc\r\n", "a\nb", "x\ny"), "x\r\ny\r\nc\r\n");
  assertEquals(applyOneEdit("a\nb\n", "a\r\nb", "x\r\ny"), "x\ny\n");
  assertEquals(applyOneEdit("a\r\nb\nc\nd\n", "b\nc", "x\ny"), "a\r\nx\ny\nd\n");
});

Deno.test("A 98: blanks at the ends of lines do not matter", () => {
  assertEquals(applyOneEdit("if (x) {  \n  y();\t\n}\n", "if (x) {\n  y();\n}", "z();"), "z();\n");
  assertEquals(applyOneEdit("a\nb  \nc\n", "b\nc\n", ""), "a\n");
  assertEquals(applyOneEdit("a\nb\n", "b  ", "c"), "a\nc\n");
});

Deno.test("an exact match is preferred to a tolerant one", () => {
  assertEquals(applyOneEdit("a \na\n", "a\n", "b\n"), "a \nb\n");
});

Deno.test("what stands in the new text is taken as it is", () => {
  assertEquals(applyOneEdit("a.b", "a", "$& $1 $`"), "$& $1 $`.b");
});

Deno.test("an empty passage and a change of nothing are refused", () => {
  assertStringIncludes(getEditError("a", ""), "old_string is empty");
  assertThrows(() => applyOneEdit("a", "a", "a"), BadRequestError, "the same");
});

Deno.test("no match: the nearest lines are shown, and a difference in indentation is named", () => {
  const text = "function a() {\n    return 1;\n}\n";
  assertEquals(
    getEditError(text, "\treturn 1;\n}"),
    "old_string is not in the file exactly so (the indentation differs); the nearest lines are:\n" +
      "2\t    return 1;\n3\t}",
  );
  assertStringIncludes(getEditError(text, "function b() {"), "1\tfunction a() {");
  assertStringIncludes(getEditError(text, "completely different words"), "nor anything like");
});

Deno.test("several matches: each is shown with the lines around it", () => {
  const message = getEditError("a\nx\nb\nc\nx\nd\n", "x");
  assertStringIncludes(message, "1\ta\n2\tx\n3\tb\n--\n4\tc\n5\tx\n6\td");
});

Deno.test("two matches equally near to the hint are still one too many", () => {
  assertThrows(
    () => applyOneEdit("x\na\nx", "x", "y", { line_hint: 2 }),
    BadRequestError,
    "2 times",
  );
});

Deno.test("random texts: a unique passage is replaced and nothing else changes", () => {
  const random = seededRandom(3);
  const alphabet = ["a", "b", " ", "\n", "\r\n", "😀"];
  for (let round = 0; round < 500; round++) {
    const text = Array.from({ length: 30 }, () => alphabet[Math.floor(random() * 6)]).join("");
    const start = Math.floor(random() * text.length);
    const passage = text.slice(start, start + 1 + Math.floor(random() * 8));
    const isWhole = !/^[\n\udc00-\udfff]|[\r\ud800-\udbff]$/.test(passage) &&
      !(text[start - 1] === "\r" && passage.startsWith("\n"));
    if (!isWhole || text.split(passage).length !== 2) continue;
    const plain = (value: string) => value.replaceAll("\r\n", "\n");
    if (plain(text).split(plain(passage)).length !== 2) continue;
    assertEquals(
      applyOneEdit(text, passage, "Q"),
      text.replace(passage, "Q"),
      JSON.stringify({ text, passage }),
    );
  }
});
