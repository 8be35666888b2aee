import { assertEquals, assertThrows } from "@std/assert";
import { Pattern } from "./pattern.ts";

/** Patterns that `RegExp` matches in exponential or polynomial time, and a text that does not match. */
const slowCases: [pattern: string, text: string][] = [
  ["^(a+)+$", "a".repeat(50_000) + "!"],
  ["^(a|aa)+$", "a".repeat(50_000) + "!"],
  ["^(a|a)*$", "a".repeat(50_000) + "!"],
  ["^(?:a?){40}a{40}$", "a".repeat(39)],
  [`^${"(?:a|a)".repeat(40)}$`, "a".repeat(40) + "!"],
  ["^(?=(a+)+$)", "a".repeat(20_000) + "!"],
  ["\\s+$", " ".repeat(50_000) + "!"],
  ["^[^@]+@[^@]+\\.[^@]+$", "a".repeat(50_000)],
  ["a{1000}b", "a".repeat(4_000)],
];

for (const [pattern, text] of slowCases) {
  Deno.test(`Pattern: ${pattern.slice(0, 30)} does not block for ${text.length} characters`, () => {
    assertEquals(new Pattern(pattern).test(text), false);
  });
}

Deno.test("Pattern: matches anywhere in a text, as RegExp does", () => {
  const cases: [pattern: string, text: string, matches: boolean][] = [
    ["b", "abc", true],
    ["^b", "abc", false],
    ["^(?:[a-z]+-)*[a-z]+$", "one-two-three", true],
    ["^(?:[a-z]+-)*[a-z]+$", "one--two", false],
    ["^(?!.*\\.\\.)(?:[\\w.]+)+@\\w+$", "a.b@c", true],
    ["^(?!.*\\.\\.)(?:[\\w.]+)+@\\w+$", "a..b@c", false],
    ["(?:(?<=\\$)\\d+)+$", "costs $42", true],
    ["(?:(?<=\\$)\\d+)+$", "costs 42", false],
    ["^(?:(?<year>\\d{4})-\\d\\d)+$", "2024-11", true],
    ["^(?:\\p{Lu}\\p{Ll}*)+$", "ÉcoleÜber", true],
    ["^(?:.)+$", "😀", true],
    ["^(?:\\ud83d\\ude00|x)+$", "😀", true],
    ["^(?:\\u{1F600}|x)+$", "😀x", true],
    ["^(?:[^])+$", "\n", true],
    ["^(?:\\bab\\b ?)+$", "ab ab", true],
    ["^$", "", true],
  ];
  for (const [pattern, text, matches] of cases) {
    assertEquals(new Pattern(pattern).test(text), matches, pattern);
  }
});

Deno.test("Pattern: is read without the flag `u` if only that makes it valid", () => {
  assertEquals(new Pattern("^(?:[\\w-\\.]+)+$").test("a-b.c"), true);
  assertEquals(new Pattern("^\\_+$").test("__"), true);
});

Deno.test("Pattern: a long text is left to RegExp if that takes linear time", () => {
  const text = "a".repeat(1_000_000);
  assertEquals(new Pattern("^[a-z]+$").test(text), true);
  assertEquals(new Pattern("^[\\s\\S]{1,2000000}$").test(text), true);
});

Deno.test("Pattern: countSteps() is about 5 ns each, and grows with the text", () => {
  assertEquals(new Pattern("^[a-z]+$").countSteps("a".repeat(1_000)), 1_000);
  const nested = new Pattern("^(a+)+$");
  const [few, many] = [100, 1_000].map((length) => nested.countSteps("a".repeat(length)));
  assertEquals([few, many], [12_120, 120_120]);
});

Deno.test("Pattern: throws for patterns that are invalid, or that no matcher can bound", () => {
  for (const source of ["[", "(a)\\1", "(?<n>a)\\k<n>", "(?i:a)", "(?:a+){3000}"]) {
    assertThrows(() => new Pattern(source), SyntaxError);
  }
});
