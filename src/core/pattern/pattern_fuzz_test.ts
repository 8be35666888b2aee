import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { buildAutomaton } from "./automaton.ts";
import { matchesAnywhere } from "./linear_matcher.ts";
import { parsePattern } from "./parse_pattern.ts";
import { Pattern } from "./pattern.ts";

/** Parts that mean the same with and without the flag `u`. */
const atoms = ["a", "b", "é", ".", "\\d", "\\W", "[ab]", "[^a]", "\\u0061", "\\x62", "\\n", "1"];
const positions = ["^", "$", "\\b", "\\B"];
const quantifiers = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "{0}"];
const groups = ["(", "(?:", "(?<name>", "(?=", "(?!", "(?<=", "(?<!"];

const source: fc.Arbitrary<string> = fc.letrec<{ pattern: string; term: string }>((tie) => ({
  pattern: fc.array(
    fc.array(tie("term"), { maxLength: 4 }).map((terms) => terms.join("")),
    { minLength: 1, maxLength: 2 },
  ).map((options) => options.join("|")),
  term: fc.oneof(
    { maxDepth: 4, depthSize: "medium" },
    fc.constantFrom(...atoms),
    fc.constantFrom(...positions),
    fc.tuple(fc.constantFrom(...atoms), fc.constantFrom(...quantifiers)).map((parts) =>
      parts.join("")
    ),
    fc.tuple(fc.constantFrom(...groups), tie("pattern")).map(([start, body]) => `${start}${body})`),
    fc.tuple(tie("pattern"), fc.constantFrom(...quantifiers)).map(([body, sign]) =>
      `(${body})${sign}`
    ),
  ),
})).pattern;
// No characters of two code units: V8 also matches empty patterns between the two, which the standard excludes.
const texts = fc.string({
  unit: fc.constantFrom("a", "b", "é", "1", "\n", "-"),
  maxLength: 8,
});

function matchLinearly(pattern: string, text: string, flags: string): boolean {
  const unicode = flags === "u";
  const automaton = buildAutomaton(parsePattern(pattern, { unicode }), flags);
  return matchesAnywhere(automaton, unicode ? Array.from(text) : text.split(""));
}

for (const flags of ["u", ""]) {
  Deno.test(`linear matcher: agrees with RegExp with the flags "${flags}"`, () => {
    fc.assert(
      fc.property(source, texts, (pattern, text) => {
        fc.pre(isValid(pattern, flags));
        assertEquals(matchLinearly(pattern, text, flags), new RegExp(pattern, flags).test(text));
      }),
      { numRuns: 2_000 },
    );
  });
}

Deno.test("Pattern: agrees with RegExp whichever matcher it chooses", () => {
  fc.assert(
    fc.property(source, texts, (pattern, text) => {
      fc.pre(isValid(pattern, "u"));
      assertEquals(new Pattern(pattern).test(text), new RegExp(pattern, "u").test(text));
    }),
    { numRuns: 1_000 },
  );
});

function isValid(pattern: string, flags: string): boolean {
  try {
    new RegExp(pattern, flags);
    return true;
  } catch {
    return false;
  }
}
