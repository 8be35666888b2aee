import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors.ts";
import { applyEdits } from "./apply_edits.ts";
import { seededRandom } from "../../testing/seeded_random.ts";

function applyOneEdit(
  text: string,
  old_string: string,
  new_string: string,
  options: object = {},
): string {
  return applyEdits(text, [{ old_string, new_string, ...options }]);
}

function getEditError(text: string, old_string: string): string {
  return assertThrows(() => applyOneEdit(text, old_string, "new"), BadRequestError).message;
}

Deno.test("applyEdits() keeps the line endings of the file", () => {
  assertEquals(applyOneEdit("a\r\nb\r\nc\r\n", "a\nb", "x\ny"), "x\r\ny\r\nc\r\n");
  assertEquals(applyOneEdit("a\nb\n", "a\r\nb", "x\r\ny"), "x\ny\n");
  assertEquals(applyOneEdit("a\r\nb\nc\nd\n", "b\nc", "x\ny"), "a\r\nx\ny\nd\n");
});

Deno.test("applyEdits() ignores trailing whitespace [A98]", () => {
  assertEquals(applyOneEdit("if (x) {  \n  y();\t\n}\n", "if (x) {\n  y();\n}", "z();"), "z();\n");
  assertEquals(applyOneEdit("a\nb  \nc\n", "b\nc\n", ""), "a\n");
  assertEquals(applyOneEdit("a\nb\n", "b  ", "c"), "a\nc\n");
});

Deno.test("applyEdits() prefers an exact match", () => {
  assertEquals(applyOneEdit("a \na\n", "a\n", "b\n"), "a \nb\n");
});

Deno.test("applyEdits() does not interpret replacement patterns in new_string", () => {
  assertEquals(applyOneEdit("a.b", "a", "$& $1 $`"), "$& $1 $`.b");
});

Deno.test("applyEdits() rejects an empty old_string and an edit that changes nothing", () => {
  assertStringIncludes(getEditError("a", ""), "old_string is empty");
  assertThrows(() => applyOneEdit("a", "a", "a"), BadRequestError, "identical");
});

Deno.test("applyEdits(): the error of a missing passage shows the nearest lines and reports different indentation", () => {
  const text = "function a() {\n    return 1;\n}\n";
  assertEquals(
    getEditError(text, "\treturn 1;\n}"),
    "old_string was not found in the file (the indentation differs). Nearest lines:\n" +
      "2\t    return 1;\n3\t}",
  );
  assertStringIncludes(getEditError(text, "function b() {"), "1\tfunction a() {");
  assertStringIncludes(getEditError(text, "completely different words"), "nothing similar");
});

Deno.test("applyEdits(): the error of an ambiguous passage shows each match with the lines around it", () => {
  const message = getEditError("a\nx\nb\nc\nx\nd\n", "x");
  assertStringIncludes(message, "1\ta\n2\tx\n3\tb\n--\n4\tc\n5\tx\n6\td");
});

Deno.test("applyEdits() rejects two matches equally near to line_hint", () => {
  assertThrows(
    () => applyOneEdit("x\na\nx", "x", "y", { line_hint: 2 }),
    BadRequestError,
    "2 times",
  );
});

Deno.test("applyEdits() replaces a unique passage of random texts and nothing else", () => {
  const random = seededRandom(3);
  const alphabet = ["a", "b", " ", "\n", "\r\n", "😀"];
  for (let round = 0; round < 500; round++) {
    const text = Array.from({ length: 30 }, () => alphabet[Math.floor(random() * 6)]).join("");
    const start = Math.floor(random() * text.length);
    const passage = text.slice(start, start + 1 + Math.floor(random() * 8));
    const isComplete = !/^[\n\udc00-\udfff]|[\r\ud800-\udbff]$/.test(passage) &&
      !(text[start - 1] === "\r" && passage.startsWith("\n"));
    if (!isComplete) continue;
    const normalize = (value: string) => value.replaceAll("\r\n", "\n");
    const [normalizedText, normalizedPassage] = [normalize(text), normalize(passage)];
    const isUnique = normalizedText.indexOf(normalizedPassage) ===
      normalizedText.lastIndexOf(normalizedPassage);
    if (!isUnique) continue;
    assertEquals(
      applyOneEdit(text, passage, "Q"),
      text.replace(passage, "Q"),
      JSON.stringify({ text, passage }),
    );
  }
});
