import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { createModeHighlighter } from "../highlight/mode_highlighter.ts";
import { createEncoder } from "../line/encode_line.ts";
import type { Line } from "../line/line.ts";
import { getLineWidth } from "../line/line_width.ts";
import type { Display } from "../theme/display.ts";
import { UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import { diffChange } from "./diff_change.ts";
import type { FileDiff } from "./file_diff.ts";
import { formatDiff, type FormatDiffOptions } from "./format_diff.ts";
import { parseDiff } from "./parse_diff.ts";

const display: Display = {
  theme: THEMES.dark,
  colors: "none",
  hasLinks: false,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

const highlighter = createModeHighlighter({ now: () => 0 });
const encode = createEncoder(display);

function format(diffs: readonly FileDiff[], options: Partial<FormatDiffOptions> = {}): string[] {
  return formatDiff(diffs, { columns: 60, display, ...options }).map(encode);
}

const change = diffChange({
  path: "src/sum.ts",
  before: "export function sum(a: number) {\n  // adds\n  return a + 1;\n}\n\nconst x = 2;\n",
  after:
    "export function sum(a: number, b: number) {\n  // adds\n  const c = a + b;\n  return c;\n}\n\nconst x = 2;",
});

Deno.test("formatDiff(): writes the path, the counts, and lines with numbers and marks", () => {
  assertEquals(format([change]), [
    "src/sum.ts (+4, -3)",
    " 1 - export function sum(a: number) {",
    " 1 + export function sum(a: number, b: number) {",
    " 2     // adds",
    " 3 -   return a + 1;",
    " 3 +   const c = a + b;",
    " 4 +   return c;",
    " 5   }",
    " 6",
    " 6 - const x = 2;",
    " 7 + const x = 2; (no newline at end of file)",
  ]);
});

Deno.test("formatDiff(): writes both sides next to each other where the terminal is wide enough", () => {
  assertEquals(format([change], { columns: 80, layout: "side_by_side" }), [
    "src/sum.ts (+4, -3)",
    " 1 - export function sum(a: number) {  │  1 + export function sum(a: number, b:",
    "                                       │       number) {",
    " 2     // adds                         │  2     // adds",
    " 3 -   return a + 1;                   │  3 +   const c = a + b;",
    "                                       │  4 +   return c;",
    " 4   }                                 │  5   }",
    " 5                                     │  6",
    " 6 - const x = 2;                      │  7 + const x = 2; (no newline at end o",
    "                                       │      f file)",
  ]);
  assertEquals(
    format([change], { columns: 79, layout: "side_by_side" }),
    format([change], { columns: 79 }),
  );
});

Deno.test("formatDiff(): writes new and deleted files completely", () => {
  const created = diffChange({ path: "new.py", before: null, after: "def f():\n    pass\n" });
  assertEquals(format([created]), ["new.py (created, +2)", "1 + def f():", "2 +     pass"]);
  const deleted = diffChange({ path: "old.py", before: "x\n", after: null });
  assertEquals(format([created, deleted]), [...format([created]), "", ...format([deleted])]);
  assertEquals(format([deleted]), ["old.py (deleted, -1)", "1 - x"]);
});

Deno.test("formatDiff(): writes positions between hunks, renames and notes", () => {
  const diffs = parseDiff([
    "diff --git a/a.go b/b.go",
    "old mode 100644",
    "new mode 100755",
    "rename from a.go",
    "rename to b.go",
    "--- a/a.go",
    "+++ b/b.go",
    "@@ -10 +10 @@ func main() {",
    "-a",
    "+b",
    "@@ -20 +21 @@",
    "-c",
    "+d",
    "",
  ].join("\n"));
  assertEquals(format(diffs), [
    "a.go → b.go (renamed, +2, -2, mode 100644 to 100755)",
    "@@ line 10 · func main() {",
    "10 - a",
    "10 + b",
    "@@ line 20 → 21",
    "20 - c",
    "21 + d",
  ]);
});

Deno.test("formatDiff(): cuts a long diff and states how to see the rest", () => {
  const hint = "/diff all shows them";
  assertEquals(format([change], { maxLines: 3, hint }), [
    "src/sum.ts (+4, -3)",
    " 1 - export function sum(a: number) {",
    " 1 + export function sum(a: number, b: number) {",
    "… 8 more lines · /diff all shows them",
  ]);
  assertEquals(format([change], { maxLines: 11, hint }), format([change]));
});

Deno.test("formatDiff(): shows the difference of line breaks, and hides them elsewhere", () => {
  const breaks = diffChange({ path: "a", before: "x\r\ny\r\n", after: "x\ny\r\n" });
  assertEquals(format([breaks]), ["a (+1, -1)", "1 - x<U+000D>", "1 + x", "2   y"]);
  const both = diffChange({ path: "a", before: "x\r\ny\r\n", after: "z\r\ny\r\n" });
  assertEquals(format([both]), ["a (+1, -1)", "1 - x", "1 + z", "2   y"]);
});

Deno.test("formatDiff(): shows invisible characters and escape sequences as code points", () => {
  const hostile = diffChange({ path: "a\x1b[31m", before: "x\n", after: "x\x1b[2J\u202e\u200b\n" });
  assertEquals(format([hostile]), [
    "a<U+001B>[31m (+1, -1)",
    "1 - x",
    "1 + x<U+001B>[2J<U+202E><U+200B>",
  ]);
});

Deno.test("formatDiff(): marks the changed words of similar lines", () => {
  const pair = diffChange({
    path: "a.txt",
    before: "the quick brown fox\nnothing alike\n",
    after: "the quick red fox\n12345\n",
  });
  const lines = formatDiff([pair], { columns: 60, display });
  assertEquals(
    lines.map((line) => line.filter(({ role }) => role?.endsWith("Word")).map(({ text }) => text)),
    [
      [],
      ["brown"],
      [],
      ["red"],
      [],
    ],
  );
});

Deno.test("formatDiff(): highlights code on the background of changed lines in true color", () => {
  const tinted = formatDiff([change], {
    columns: 60,
    highlighter,
    display: { ...display, colors: "true_color" },
  });
  const removed = tinted[1] ?? [];
  assertEquals(removed[2], { text: "export", role: "keyword", ground: "removedLine" });
  const basic = formatDiff([change], {
    columns: 60,
    highlighter,
    display: { ...display, colors: "basic" },
  });
  assertEquals(basic[1]?.[1], { text: "- export function sum(a: number) {", role: "removed" });
  assertEquals(basic[3]?.at(-1), { text: "// adds", role: "comment" });
});

Deno.test("formatDiff(): comments that began before a changed line are highlighted on both sides", () => {
  const comment = diffChange({ path: "a.ts", before: "/*\nold\n*/\n", after: "/*\nnew\n*/\n" });
  const lines = formatDiff([comment], {
    columns: 60,
    highlighter,
    display: { ...display, colors: "true_color" },
  });
  const roles = lines.slice(1).map((line: Line) => line.at(-1)?.role);
  assertEquals(roles, ["comment", "comment", "comment", "comment"]);
});

const source = fc.array(
  fc.constantFrom(
    "const a = 1;",
    "",
    "\tx",
    "世界".repeat(20),
    "y".repeat(100),
    "}",
    "/* z",
    "\x1b[31m\u202e",
    "e\u0301\r",
  ),
  { maxLength: 12 },
).map((lines) => lines.join("\n"));

Deno.test("formatDiff(): no line is wider than the terminal or contains a control character", () => {
  fc.assert(
    fc.property(source, source, fc.constantFrom(20, 40, 80, 120), (before, after, columns) => {
      for (const layout of ["unified", "side_by_side"] as const) {
        const diffs = [diffChange({ path: "src/a.ts", before, after })];
        for (
          const line of formatDiff(diffs, { columns, display, layout, highlighter, maxLines: 20 })
        ) {
          assert(getLineWidth(line) <= columns, JSON.stringify(line));
          // deno-lint-ignore no-control-regex -- control characters must be absent
          assert(!/[\x00-\x1f\x7f-\x9f\u202e]/.test(encode(line)), JSON.stringify(line));
        }
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("formatDiff(): takes time in proportion to the lines that it shows", () => {
  const lines = Array.from({ length: 100_000 }, (_, index) => `+line ${index}`);
  const [diff] = parseDiff(
    `--- /dev/null\n+++ b/big.ts\n@@ -0,0 +1,${lines.length} @@\n${lines.join("\n")}\n`,
  );
  assert(diff);
  const getTime = startThreadTimer();
  assertEquals(format([diff], { maxLines: 40, highlighter }).length, 41);
  assert(getTime() < 1_000, `${getTime()} ms`);
});
