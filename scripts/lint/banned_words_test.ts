import { assertEquals } from "@std/assert";
import { BANNED_WORDS, findBannedName, findBannedWords, splitIdentifier } from "./banned_words.ts";
import plugin from "./plugin.ts";

function findWords(kind: "comment" | "text", text: string): string[] {
  return findBannedWords(kind, text).map((match) => match.word);
}

/** Runs the rule; returns the message and the source text of each report. */
function lintSource(source: string, file = "/p/src/core/a.ts"): string[] {
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
  assertEquals(findWords("comment", "Told of it; nobody goes on."), ["Told", "nobody", "goes on"]);
  assertEquals(findWords("comment", "Amended besides; `Math.floor` in the background."), []);
  assertEquals(findWords("text", "./folder_snapshot.ts"), ["folder"]);
});

Deno.test("findBannedWords() allows in texts the words that are banned only in code", () => {
  assertEquals(findWords("text", "It says a. They said: the house has a floor."), []);
});

Deno.test("BANNED_WORDS: patterns have no capturing groups", () => {
  for (const { pattern } of BANNED_WORDS) assertEquals(/\((?!\?)/.test(pattern), false, pattern);
});

Deno.test("plain-language reports each name once per file, also private ones", () => {
  assertEquals(lintSource("const told = 1; f(told); class A { #mended() {} }"), [
    `Identifier "told" uses "told". told`,
    `Identifier "mended" uses "mended". #mended`,
  ]);
});

Deno.test("plain-language reports the position of the word in a comment, also after characters outside of ASCII", () => {
  assertEquals(lintSource("/**\n * Ünïcode is mended 🙂 anew.\n */\nf();"), [
    `Comment uses "mended". mended`,
    `Comment uses "anew". anew`,
  ]);
  assertEquals(lintSource("const a = '🙂é';\n// is told\n"), [`Comment uses "told". told`]);
});

Deno.test("plain-language reports comments that begin with What", () => {
  assertEquals(lintSource("/** What it does. */\n// What\n/**\n * Not what.\n */"), [
    `Comment begins with "What". What`,
    `Comment begins with "What". What`,
  ]);
});

Deno.test("plain-language reports strings and template texts", () => {
  assertEquals(lintSource('f("no folder", `a ${b} is told`);'), [
    `Text uses "folder". "no folder"`,
    `Text uses "told".  is told`,
  ]);
  assertEquals(lintSource('f("\\ntold");').length, 1);
});

Deno.test("plain-language allows Math.floor, not other floors", () => {
  assertEquals(lintSource("Math.floor(1.5);"), []);
  assertEquals(lintSource("house.floor;").length, 2);
});

Deno.test("plain-language reports file names", () => {
  assertEquals(lintSource("f();", "/p/src/core/folders.ts"), [`File name uses "folders". f`]);
});

Deno.test("plain-language reports words in an ignored comment at its start, where the directive applies", () => {
  const comment = "/**\n * Two lines.\n * Is told.\n */";
  const source = `// deno-lint-ignore swink/plain-language -- a quotation\n${comment}\nf();`;
  assertEquals(lintSource(source), [`Comment uses "told". ${comment}`]);
});

Deno.test("plain-language skips fixtures and the list itself", () => {
  assertEquals(lintSource("told();", "/p/tests/fixtures/a.ts"), []);
  assertEquals(lintSource("told();", "/p/scripts/lint/banned_words.ts"), []);
});
