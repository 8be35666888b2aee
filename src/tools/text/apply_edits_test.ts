import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { AbortedError, BadRequestError } from "../../core/errors/errors.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { TimeBudget } from "../budget/time_budget.ts";
import { applyEdits } from "./apply_edits.ts";

function createBudget(limitMs?: number): TimeBudget {
  const { signal } = new AbortController();
  return new TimeBudget({ work: "The edit", signal, ...(limitMs !== undefined && { limitMs }) });
}

function applyOneEdit(
  text: string,
  old_string: string,
  new_string: string,
  options: object = {},
): Promise<string> {
  return applyEdits(text, [{ old_string, new_string, ...options }], createBudget());
}

async function getEditError(text: string, old_string: string): Promise<string> {
  const applying = applyOneEdit(text, old_string, "new");
  return (await assertRejects(() => applying, BadRequestError)).message;
}

Deno.test("applyEdits() keeps the line endings of the file", async () => {
  assertEquals(await applyOneEdit("a\r\nb\r\nc\r\n", "a\nb", "x\ny"), "x\r\ny\r\nc\r\n");
  assertEquals(await applyOneEdit("a\nb\n", "a\r\nb", "x\r\ny"), "x\ny\n");
  assertEquals(await applyOneEdit("a\r\nb\nc\nd\n", "b\nc", "x\ny"), "a\r\nx\ny\nd\n");
  assertEquals(await applyOneEdit("a\r\nb\nc", "c", "c\nd"), "a\r\nb\nc\nd");
});

Deno.test("applyEdits() ignores trailing whitespace [A98]", async () => {
  assertEquals(
    await applyOneEdit("if (x) {  \n  y();\t\n}\n", "if (x) {\n  y();\n}", "z();"),
    "z();\n",
  );
  assertEquals(await applyOneEdit("a\nb  \nc\n", "b\nc\n", ""), "a\n");
  assertEquals(await applyOneEdit("a\nb\n", "b  ", "c"), "a\nc\n");
});

Deno.test("applyEdits() prefers an exact match", async () => {
  assertEquals(await applyOneEdit("a \na\n", "a\n", "b\n"), "a \nb\n");
});

Deno.test("applyEdits() does not interpret replacement patterns in new_string", async () => {
  assertEquals(await applyOneEdit("a.b", "a", "$& $1 $`"), "$& $1 $`.b");
});

Deno.test("applyEdits() rejects an empty old_string and an edit that changes nothing", async () => {
  assertStringIncludes(await getEditError("a", ""), "old_string is empty");
  await assertRejects(() => applyOneEdit("a", "a", "a"), BadRequestError, "identical");
});

Deno.test("applyEdits(): the error of a missing passage shows the nearest lines and reports different indentation", async () => {
  const text = "function a() {\n    return 1;\n}\n";
  assertEquals(
    await getEditError(text, "\treturn 1;\n}"),
    "old_string was not found in the file (the indentation differs). Nearest lines:\n" +
      "2\t    return 1;\n3\t}",
  );
  assertStringIncludes(await getEditError(text, "function b() {"), "1\tfunction a() {");
  assertStringIncludes(await getEditError(text, "completely different words"), "nothing similar");
  // Seven of ten characters are equal, and then six.
  assertStringIncludes(await getEditError("abcdefgxyz\n", "abcdefghij"), "1\tabcdefgxyz");
  assertStringIncludes(await getEditError("abcdefwxyz\n", "abcdefghij"), "nothing similar");
});

Deno.test("applyEdits(): the error of an ambiguous passage shows each match with the lines around it", async () => {
  const message = await getEditError("a\nx\nb\nc\nx\nd\n", "x");
  assertStringIncludes(message, "1\ta\n2\tx\n3\tb\n--\n4\tc\n5\tx\n6\td");
});

Deno.test("applyEdits() rejects two matches equally near to line_hint", async () => {
  await assertRejects(
    () => applyOneEdit("x\na\nx", "x", "y", { line_hint: 2 }),
    BadRequestError,
    "2 times",
  );
});

Deno.test("applyEdits() replaces a unique passage of random texts and nothing else", async () => {
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
      await applyOneEdit(text, passage, "Q"),
      text.replace(passage, "Q"),
      JSON.stringify({ text, passage }),
    );
  }
});

Deno.test("applyEdits() keeps the ending of each untouched line of a file with mixed line endings", async () => {
  const mixed = "a\r\nb\nc\r\nd\n";
  assertEquals(await applyOneEdit(mixed, "a\nb\nc\nd", "a\nB\nc\nd"), "a\r\nB\nc\r\nd\n");
  assertEquals(await applyOneEdit(mixed, "a\nb\nc", "a\nc"), "a\r\nc\r\nd\n");
  assertEquals(await applyOneEdit(mixed, "c\nd", "c\nx\nd"), "a\r\nb\nc\r\nx\r\nd\n");
  assertEquals(await applyOneEdit("a\nb\r\n", "a\nb\n", "a\nb\nc\n"), "a\nb\r\nc\r\n");
});

Deno.test("applyEdits() counts overlapping matches, and replaces those that do not overlap with replace_all", async () => {
  assertStringIncludes(await getEditError("ababa", "aba"), "occurs 2 times");
  assertStringIncludes(await getEditError("x \nx \nx \n", "x\nx\n"), "occurs 2 times");
  assertEquals(await applyOneEdit("ababa", "aba", "-", { replace_all: true }), "-ba");
});

const NEAR_MISSES: readonly (readonly [line: string, wanted: string, reason: string])[] = [
  ["one", "1\tone\n2\ttwo", "it has line numbers"],
  ["one", "  1 | one\n  2 | two", "it has line numbers"],
  ['say("a\tb");', 'say(\\"a\\tb\\");', "it has escapes"],
  ["if (a < b) {", "if (a &lt; b) {", "it has HTML entities"],
  ["x = 'a'", "x = ‘a’", "it has other quotation marks"],
  ["x – “y”", 'x - "y"', "it has other quotation marks"],
  ["caf\u00e9", "cafe\u0301", "it has other quotation marks, dashes, spaces or accents"],
  ["Const A = 1;", "const a = 1;", "it has upper-case or lower-case letters"],
];

for (const [line, wanted, reason] of NEAR_MISSES) {
  Deno.test(`applyEdits(): the error of ${JSON.stringify(wanted)} names the difference`, async () => {
    const message = await getEditError(`${line}\ntwo\n`, wanted);
    assertStringIncludes(message, reason);
    assertStringIncludes(message, `\t${line}`);
  });
}

Deno.test("applyEdits(): line_hint among 40,000 matches takes less than 2 s", async () => {
  const getThreadTime = startThreadTimer();
  const text = "x\n".repeat(40_000);
  const edited = await applyOneEdit(text, "x", "y", { line_hint: 30_000 });
  assertEquals(edited.indexOf("y"), 59_998);
  assert(getThreadTime() < 2_000);
});

Deno.test("applyEdits() rejects when the edits take longer than the budget, and when they are aborted", async () => {
  let time = 0;
  const controller = new AbortController();
  const now = () => time += 10;
  const edits = Array.from({ length: 100 }, () => ({ old_string: "a", new_string: "ab" }));
  const options = { work: "The edit", signal: controller.signal, limitMs: 500, now };
  await assertRejects(
    () => applyEdits("a", edits, new TimeBudget(options)),
    BadRequestError,
    "The edit takes longer than 0.5 s",
  );
  controller.abort();
  await assertRejects(() => applyEdits("a", edits, new TimeBudget(options)), AbortedError);
});

Deno.test("applyEdits(): a passage of many equal lines is searched in linear time", async () => {
  const getElapsed = startThreadTimer();
  const passage = `${"\n".repeat(5_000)}a \n`;
  const text = "\n".repeat(400_000);
  assertStringIncludes(await getEditError(text, passage), "not found");
  assertEquals(await applyOneEdit(`${text}a`, passage, "b"), `${"\n".repeat(395_000)}b`);
  assert(getElapsed() < 5_000);
});
