import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { speedUpTimers } from "../../../tests/fast_timers.ts";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { getPatternRisk } from "./pattern_risk.ts";

const LINEAR = [
  "foo",
  "^import \\{",
  "a|b",
  "(foo|bar)",
  "[a-z]{3}",
  "a?b",
  "\\(\\*\\)",
  "[*+]",
  "\\bx\\b",
  "(a{1,3}){1,3}",
];
const POWER: readonly (readonly [pattern: string, exponent: number, factor?: number])[] = [
  ["a*", 1],
  ["foo.*bar", 1],
  ["\\w+\\s*=\\s*\\w+", 4],
  ["(ab)+", 1],
  ["a{3,}", 1],
  ["(a+)?", 1],
  ["x{21}", 1],
  ["(a+){5}", 5],
  ["(a+b){0,3}c*", 4],
  ["\\(?a+\\)?", 1],
  ["(?:a+?)?b*?", 2],
  ["a?".repeat(20), 0, 2 ** 20],
  ["(a|b){10}c*", 1, 2 ** 10],
  [`(?<x>a{1,4}){5}(?i)b`, 0, 2 ** 10],
];
const EXPONENTIAL = [
  "(a+)+",
  "(a*)*$",
  "(a|a)*",
  "(?:x|y+)+z",
  "((a+)b)*",
  "(a{2,})+",
  "(.*a){25}",
  "(a+)\\1",
  "(?<x>a+)+",
  "([a-z]+)*",
  "(a?a?)+",
  "(a{1,20}){1,20}b",
  "(a?){20}(a?){20}(a|b)",
  "a?".repeat(50),
  "(a|aa){20}(a|b|c){20}b",
  "((a{1,5}){1,5}){1,5}b",
  "a{0,20}".repeat(10),
];

Deno.test("getPatternRisk() classifies patterns by their form", () => {
  for (const source of LINEAR) assertEquals(getPatternRisk(source).type, "linear", source);
  for (const [source, exponent, factor = 1] of POWER) {
    const { factor: estimated = 0, ...risk } = { factor: 0, ...getPatternRisk(source) };
    assertEquals(risk, { type: "power", exponent }, source);
    assertAlmostEquals(estimated / factor, 1, 1e-6, source);
  }
  for (const source of EXPONENTIAL) {
    assertEquals(getPatternRisk(source).type, "exponential", source);
  }
});

Deno.test("search_files: finds lines by a pattern with nested repetitions", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", `${"a".repeat(60)}!\nfoo.bar.baz\n`);
  const { text } = await workspace.callTool("search_files", { pattern: "(\\w+\\.)+baz" });
  assertEquals(text, "a.txt\n2: foo.bar.baz");
});

Deno.test("search_files: patterns of polynomial cost end in bounded time on long lines", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", `${"a ".repeat(200_000)}\n${" ".repeat(200_000)}x\n`);
  // A file has 3 s.
  using _timers = speedUpTimers(10);
  for (const pattern of ["\\s+$", ".*foo.*bar", "a*b*c*d*e*!", "(?!x).*.*.*foo"]) {
    const start = performance.now();
    await workspace.callTool("search_files", { pattern });
    assert(performance.now() - start < 20_000, pattern);
  }
});

Deno.test("getPatternRisk() takes seconds at most, not minutes, for patterns of 200 KB", () => {
  const getThreadTime = startThreadTimer();
  for (const piece of ["[", "(", "{", "\\", "[\\", "\\k<", "(?", "a{1"]) {
    getPatternRisk(piece.repeat(200_000));
  }
  assert(getThreadTime() < 10_000);
});
