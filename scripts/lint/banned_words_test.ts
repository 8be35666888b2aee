import { assertEquals } from "@std/assert";
import { BANNED_WORDS, findBannedName, findBannedWords, splitIdentifier } from "./banned_words.ts";
import plugin from "./plugin.ts";

function wordsIn(kind: "comment" | "text", text: string): string[] {
  return findBannedWords(kind, text).map((match) => match.word);
}

/** Messages and source ranges of the rule's reports. */
function reports(source: string, file = "/p/src/core/a.ts"): string[] {
  return Deno.lint.runPlugin(plugin, file, source)
    .filter((report) => report.id === "swink/plain-language")
    .map((report) => `${report.message} ${source.slice(...report.range)}`);
}

Deno.test("splitIdentifier() splits at case, underscore and digit", () => {
  assertEquals(splitIdentifier("#readHTTPBody2"), "read http body 2");
  assertEquals(splitIdentifier("MAX_FLOOR_MS"), "max floor ms");
  assertEquals(splitIdentifier("whatWaits"), "what waits");
});

Deno.test("findBannedName() finds banned words and shapes of names", () => {
  for (const name of ["whatWaits", "#whatIsLeft", "PolicedCall", "stopReasonOf", "HeldFolder"]) {
    assertEquals(findBannedName(name) !== undefined, true, name);
  }
  for (const name of ["tellStart", "sayMended", "AgentWish", "file_floor", "isSayable"]) {
    assertEquals(findBannedName(name) !== undefined, true, name);
  }
  for (const name of ["indexOf", "of", "anyOf", "what", "policy", "policies", "recommend"]) {
    assertEquals(findBannedName(name), undefined, name);
  }
});

Deno.test("findBannedWords() matches complete words in any case", () => {
  assertEquals(wordsIn("comment", "Told of it; nobody goes on."), ["Told", "nobody", "goes on"]);
  assertEquals(wordsIn("comment", "Amended besides; `Math.floor` in the background."), []);
  assertEquals(wordsIn("text", "./folder_snapshot.ts"), ["folder"]);
});

Deno.test("findBannedWords() leaves what a model replies alone in texts", () => {
  assertEquals(wordsIn("text", "It says a. They said: the house has a floor."), []);
});

Deno.test("BANNED_WORDS: patterns have no capturing groups", () => {
  for (const { pattern } of BANNED_WORDS) assertEquals(/\((?!\?)/.test(pattern), false, pattern);
});

Deno.test("plain-language reports names once per file, private ones too", () => {
  assertEquals(reports("const told = 1; f(told); class A { #mended() {} }"), [
    `Identifier "told" uses "told". told`,
    `Identifier "mended" uses "mended". #mended`,
  ]);
});

Deno.test("plain-language reports the place within a comment, also after other characters", () => {
  assertEquals(reports("/**\n * Ünïcode is mended 🙂 anew.\n */\nf();"), [
    `Comment uses "mended". mended`,
    `Comment uses "anew". anew`,
  ]);
  assertEquals(reports("const a = '🙂é';\n// is told\n"), [`Comment uses "told". told`]);
});

Deno.test("plain-language reports comments that begin with What", () => {
  assertEquals(reports("/** What it does. */\n// What\n/**\n * Not what.\n */"), [
    `Comment begins with "What". What`,
    `Comment begins with "What". What`,
  ]);
});

Deno.test("plain-language reports strings and template texts", () => {
  assertEquals(reports('f("no folder", `a ${b} is told`);'), [
    `Text uses "folder". "no folder"`,
    `Text uses "told".  is told`,
  ]);
  assertEquals(reports('f("\\ntold");').length, 1);
});

Deno.test("plain-language allows Math.floor, not other floors", () => {
  assertEquals(reports("Math.floor(1.5);"), []);
  assertEquals(reports("house.floor;").length, 2);
});

Deno.test("plain-language reports file names", () => {
  assertEquals(reports("f();", "/p/src/core/folders.ts"), [`File name uses "folders". f`]);
});

Deno.test("plain-language reports an ignored comment at its start, where the directive covers it", () => {
  const comment = "/**\n * Two lines.\n * Is told.\n */";
  const source = `// deno-lint-ignore swink/plain-language -- a quotation\n${comment}\nf();`;
  assertEquals(reports(source), [`Comment uses "told". ${comment}`]);
});

Deno.test("plain-language skips fixtures and the list itself", () => {
  assertEquals(reports("told();", "/p/tests/fixtures/a.ts"), []);
  assertEquals(reports("told();", "/p/scripts/lint/banned_words.ts"), []);
});
