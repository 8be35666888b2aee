import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createUnifiedDiff } from "../../../src/core/diff/unified_diff.ts";
import { countChanges, diffChange } from "./diff_change.ts";
import type { FileDiff } from "./file_diff.ts";
import { parseDiff } from "./parse_diff.ts";

/** Shows a hunk as its lines with their marks. */
function showHunks({ hunks }: FileDiff): string[] {
  const marks = { context: " ", added: "+", removed: "-", note: "\\" };
  return hunks.flatMap(({ beforeStart, afterStart, section, lines }) => [
    `@@ ${beforeStart} ${afterStart} ${section}`.trimEnd(),
    ...lines.map(({ type, text }) => marks[type] + text),
  ]);
}

function parseOne(...lines: string[]): FileDiff {
  const [file, ...others] = parseDiff(lines.join("\n") + "\n");
  assertEquals(others, []);
  assert(file);
  return file;
}

Deno.test("parseDiff(): reads files, hunks and their lines", () => {
  const files = parseDiff([
    "diff --git a/src/a.ts b/src/a.ts",
    "index 123..456 100644",
    "--- a/src/a.ts",
    "+++ b/src/a.ts",
    "@@ -1,2 +1,3 @@ function f()",
    " one",
    "-two",
    "+2",
    "+3",
    "@@ -10 +11 @@",
    "-x",
    "+y",
    "\\ No newline at end of file",
    "--- b.txt\t2020-01-01",
    "+++ b.txt\t2020-01-02",
    "@@ -1 +1 @@",
    "-b",
    "+c",
    "",
  ].join("\n"));
  assertEquals(files.map(({ path, kind }) => [path, kind]), [
    ["src/a.ts", "changed"],
    ["b.txt", "changed"],
  ]);
  assertEquals(files.map(showHunks), [
    [
      "@@ 1 1 function f()",
      " one",
      "-two",
      "+2",
      "+3",
      "@@ 10 11",
      "-x",
      "+y",
      "\\No newline at end of file",
    ],
    ["@@ 1 1", "-b", "+c"],
  ]);
});

Deno.test("parseDiff(): reads new, deleted, renamed, copied and binary files, and modes", () => {
  const created = parseOne(
    "diff --git a/new b/new",
    "new file mode 100644",
    "--- /dev/null",
    "+++ b/new",
    "@@ -0,0 +1 @@",
    "+a",
  );
  assertEquals([created.path, created.kind, created.previousPath], ["new", "created", undefined]);
  const deleted = parseOne(
    "diff --git a/old b/old",
    "deleted file mode 100644",
    "--- a/old",
    "+++ /dev/null",
    "@@ -1 +0,0 @@",
    "-a",
  );
  assertEquals([deleted.path, deleted.kind], ["old", "deleted"]);
  const renamed = parseOne(
    "diff --git a/one two b/three",
    "similarity index 100%",
    "rename from one two",
    "rename to three",
  );
  assertEquals([renamed.path, renamed.kind, renamed.previousPath], ["three", "renamed", "one two"]);
  const binary = parseOne(
    "diff --git a/x.png b/x.png",
    "old mode 100644",
    "new mode 100755",
    "Binary files a/x.png and b/x.png differ",
  );
  assertEquals(binary.notes, ["mode 100644 to 100755", "binary file"]);
  assertEquals(parseOne("--- /dev/null", "+++ b/n", "@@ -0,0 +1 @@", "+a").kind, "created");
});

Deno.test("parseDiff(): decodes quoted paths", () => {
  const file = parseOne(
    String.raw`diff --git "a/\303\244\"\t.txt" "b/\303\244\"\t.txt"`,
    String.raw`--- "a/\303\244\"\t.txt"`,
    String.raw`+++ "b/\303\244\"\t.txt"`,
    "@@ -1 +1 @@",
    "-a",
    "+b",
  );
  assertEquals(file.path, 'ä"\t.txt');
});

Deno.test("parseDiff(): lines that look like headers belong to their hunk", () => {
  const file = parseOne(
    "--- a/x.sql",
    "+++ b/x.sql",
    "@@ -1,2 +1,2 @@",
    "--- a comment",
    "+++ a sum",
    " ",
  );
  assertEquals(showHunks(file), ["@@ 1 1", "--- a comment", "+++ a sum", " "]);
});

Deno.test("parseDiff(): reads hunks with wrong counts, as models write them", () => {
  const file = parseOne(
    "--- a/x",
    "+++ b/x",
    "@@ -1,1 +1,1 @@",
    " a",
    "-b",
    "+c",
    "",
    "text behind it",
  );
  assertEquals(showHunks(file), ["@@ 1 1", " a", "-b", "+c"]);
  assertEquals(parseDiff("no diff\nat all"), []);
  assertEquals(parseDiff(""), []);
  assertEquals(parseOne("@@ -1 +1 @@", "-a", "+b").path, "");
});

Deno.test("diffChange(): compares texts where the tool has no diff", () => {
  const change = { path: "a.txt", before: "one\ntwo\n", after: "one\n2\n" };
  assertEquals(showHunks(diffChange(change)), ["@@ 1 1", " one", "-two", "+2"]);
  assertEquals(countChanges(diffChange(change)), { added: 1, removed: 1 });
  assertEquals(diffChange({ path: "a", before: null, after: "x\n" }).kind, "created");
  assertEquals(diffChange({ path: "a", before: "x\n", after: null }).kind, "deleted");
  assertEquals(diffChange({ path: "a", before: "x", after: "x" }).hunks, []);
  const diff = "--- a/z\n+++ b/z\n@@ -5 +5 @@\n-a\n+b\n";
  assertEquals(showHunks(diffChange({ ...change, diff })), ["@@ 5 5", "-a", "+b"]);
});

Deno.test("parseDiff(): reads every diff that the tools create", () => {
  const text = fc.array(
    fc.constantFrom(
      "a",
      "b",
      "",
      " ",
      "-- x",
      "++ y",
      "@@ -1 +1 @@",
      "\\ z",
      "--- a",
      "+++ b",
      "é",
    ),
    { maxLength: 12 },
  ).chain((lines) =>
    fc.constantFrom("", "\n").map((end) => lines.length === 0 ? "" : lines.join("\n") + end)
  );
  fc.assert(fc.property(text, text, (before, after) => {
    const diff = createUnifiedDiff({ path: "x", before, after });
    const [file] = parseDiff(diff);
    const body = diff.split("\n").slice(2, -1).filter((line) => !/^@@ -\d.* @@$/.test(line));
    const shown = file ? showHunks(file).filter((line) => !/^@@ \d+ \d+$/.test(line)) : [];
    assertEquals(shown, body.map((line) => line.replace(/^\\ /, "\\")));
  }));
});
