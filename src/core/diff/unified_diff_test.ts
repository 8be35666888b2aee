import { assertEquals } from "@std/assert";
import { seededRandom } from "../../testing/seeded_random.ts";
import { diffLines } from "./line_diff.ts";
import { countChangedLines, createFileChange, createUnifiedDiff } from "./unified_diff.ts";

Deno.test("createUnifiedDiff() surrounds a changed line with three lines of context", () => {
  const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  const after = before.replace("5", "five");
  assertEquals(
    createUnifiedDiff({ path: "a.txt", before, after }),
    "--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
  );
});

Deno.test("createUnifiedDiff() puts changes into one hunk if their contexts touch", () => {
  const countHunks = (unchanged: number) => {
    const lines = Array.from({ length: unchanged }, (_, index) => `${index}\n`).join("");
    const diff = createUnifiedDiff({
      path: "a",
      before: `a\n${lines}b\n`,
      after: `c\n${lines}d\n`,
    });
    return diff.match(/^@@/gm)?.length;
  };
  assertEquals([5, 6, 7].map(countHunks), [1, 1, 2]);
});

Deno.test("createUnifiedDiff() formats new and deleted files, and returns an empty diff for equal texts", () => {
  assertEquals(
    createUnifiedDiff({ path: "a", before: null, after: "x\n" }),
    "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n",
  );
  assertEquals(
    createUnifiedDiff({ path: "a", before: "x\n", after: null }),
    "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
  );
  assertEquals(createFileChange({ path: "a", before: "x", after: "x" }).diff, "");
});

Deno.test("createUnifiedDiff() surrounds a change with an empty first line", () => {
  assertEquals(
    createUnifiedDiff({ path: "a", before: "\n", after: "\nx\n" }),
    "--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n \n+x\n",
  );
  assertEquals(
    createUnifiedDiff({ path: "a", before: "\nx\ny\n", after: "\nx\nz\n" }),
    "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n \n x\n-y\n+z\n",
  );
});

Deno.test("createUnifiedDiff() marks a missing newline at the end", () => {
  assertEquals(
    createUnifiedDiff({ path: "a", before: "x", after: "x\n" }),
    "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n",
  );
});

Deno.test("createUnifiedDiff() quotes paths with special characters", () => {
  const diff = createUnifiedDiff({ path: 'a "b"\n\u0007\u001bc', before: null, after: "x\n" });
  assertEquals(diff.split("\n")[1], '+++ "b/a \\"b\\"\\n\\007\\033c"');
});

Deno.test("countChangedLines() counts added and removed lines", () => {
  const diff = createUnifiedDiff({ path: "a", before: "1\n2\n", after: "1\n3\n4\n" });
  assertEquals(countChangedLines(diff), { added: 2, removed: 1 });
});

Deno.test("countChangedLines() counts lines that look like a header", () => {
  const before = "select 1;\n-- the first\n-- the second\n";
  const diff = createUnifiedDiff({ path: "a.sql", before, after: "select 1;\n++ a\n" });
  assertEquals(countChangedLines(diff), { added: 1, removed: 2 });
});

Deno.test("diffLines() returns minimal edits for random lines", () => {
  const random = seededRandom(7);
  for (let round = 0; round < 300; round++) {
    const before = randomLines(random, 12);
    const after = randomLines(random, 12);
    const edits = diffLines(before, after);
    assertEquals(applyLineEdits(before, after, edits), after);
    const changed = edits.reduce(
      (sum, edit) => sum + edit.beforeEnd - edit.beforeStart + edit.afterEnd - edit.afterStart,
      0,
    );
    assertEquals(changed, before.length + after.length - 2 * getCommonLength(before, after));
  }
});

Deno.test("diffLines() returns one edit for long texts without common lines", () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `a${index}`);
  const after = Array.from({ length: 20_000 }, (_, index) => `b${index}`);
  assertEquals(diffLines(before, after).length, 1);
});

Deno.test("createUnifiedDiff() computes line numbers of a change in a long text", () => {
  const random = seededRandom(13);
  for (let round = 0; round < 60; round++) {
    const lines = Array.from(
      { length: 900 },
      (_, index) => `line ${index} ${"x".repeat(random() * 60)}`,
    );
    const before = lines.join("\n") + (round % 2 ? "\n" : "");
    const changed = [...lines];
    const start = Math.floor(random() * 900);
    const removed = changed.splice(
      start,
      Math.floor(random() * 3),
      ...Array.from({ length: Math.floor(random() * 3) }, () => "new"),
    );
    const after = changed.join("\n") + (round % 2 ? "\n" : "");
    if (before === after) continue;
    const diff = createUnifiedDiff({ path: "a", before, after });
    assertEquals(applyPatch(before, diff), after);
    const following = lines.length - start - removed.length;
    const context = Math.min(3, start) + Math.min(3, following);
    // Without a newline at the end, the last line changes when another one follows it.
    if (round % 2 || following > 0) assertEquals(diff.match(/^ /gm)?.length, context);
  }
});

Deno.test("createUnifiedDiff() surrounds a change with its context when the lines around it are long", () => {
  const long = ["a", "b", "c", "d"].map((name) => name.repeat(5_000));
  const lines = [...long, "old", ...long];
  const before = lines.join("\n");
  assertEquals(
    createUnifiedDiff({ path: "a", before, after: before.replace("old", "new") }),
    `--- a/a\n+++ b/a\n@@ -2,7 +2,7 @@\n${
      [...long.slice(1).map((line) => ` ${line}`), "-old", "+new"].join("\n")
    }\n${long.slice(0, 3).map((line) => ` ${line}\n`).join("")}`,
  );
  const last = "x".repeat(10_000);
  assertEquals(
    createUnifiedDiff({ path: "a", before: `1\n${last}`, after: `2\n${last}` }),
    `--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n+2\n ${last}\n\\ No newline at end of file\n`,
  );
});

Deno.test("diffLines() returns one edit for texts that differ in more than 1000 lines", () => {
  const common = Array.from({ length: 501 }, (_, index) => `same ${index}`);
  const withOthers = (other: string, count: number) =>
    common.flatMap((line, index) => index < count ? [`${other} ${index}`, line] : [line]);
  assertEquals(diffLines(withOthers("old", 500), withOthers("new", 500)).length, 500);
  assertEquals(diffLines(withOthers("old", 501), withOthers("new", 501)).length, 1);
});

/** Applies a diff with one hunk by its line numbers, which must be right for both texts. */
function applyPatch(before: string, diff: string): string {
  const [, start = "", count = "1", newStart = "", newCount = "1"] =
    /@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(diff) ?? [];
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const body = diff.slice(diff.indexOf("\n", diff.indexOf("@@")) + 1).replace(
    /\n\\ No newline[^\n]*\n/g,
    "",
  );
  const added = body.match(/^[ +].*\n?/gm)?.map((line) => line.slice(1)) ?? [];
  const from = Number(count) === 0 ? Number(start) : Number(start) - 1;
  const newFrom = Number(newCount) === 0 ? Number(newStart) : Number(newStart) - 1;
  assertEquals([newFrom, Number(newCount)], [from, added.length]);
  return [...lines.slice(0, from), ...added, ...lines.slice(from + Number(count))].join("");
}

Deno.test("createUnifiedDiff() creates diffs that git applies", async () => {
  const directory = await Deno.makeTempDir();
  const random = seededRandom(11);
  try {
    for (let round = 0; round < 15; round++) {
      const before = randomLines(random, 40).join("\n") + (round % 2 ? "\n" : "");
      const after = randomLines(random, 40).join("\n") + (round % 3 ? "\n" : "");
      if (before === after) continue;
      await Deno.writeTextFile(`${directory}/f.txt`, before);
      await Deno.writeTextFile(
        `${directory}/p.patch`,
        createUnifiedDiff({ path: "f.txt", before, after }),
      );
      const { success, stderr } = await new Deno.Command("git", {
        args: ["apply", "p.patch"],
        cwd: directory,
      }).output();
      assertEquals(success, true, new TextDecoder().decode(stderr));
      assertEquals(await Deno.readTextFile(`${directory}/f.txt`), after);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

function applyLineEdits(
  before: readonly string[],
  after: readonly string[],
  edits: ReturnType<typeof diffLines>,
): string[] {
  const lines: string[] = [];
  let next = 0;
  for (const edit of edits) {
    lines.push(...before.slice(next, edit.beforeStart));
    lines.push(...after.slice(edit.afterStart, edit.afterEnd));
    next = edit.beforeEnd;
  }
  return [...lines, ...before.slice(next)];
}

/** Returns the length of the longest common subsequence. */
function getCommonLength(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    for (const [index, otherLine] of b.entries()) {
      const best = line === otherLine
        ? (row[index] ?? 0) + 1
        : Math.max(row[index + 1] ?? 0, next[index] ?? 0);
      next.push(best);
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function randomLines(random: () => number, maxLength: number): string[] {
  return Array.from(
    { length: Math.floor(random() * maxLength) },
    () => "abcd".charAt(random() * 4),
  );
}
