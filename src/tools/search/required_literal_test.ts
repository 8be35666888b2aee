import { assert, assertEquals } from "@std/assert";
import { seededRandom } from "../../testing/seeded_random.ts";
import { findLines } from "./find_lines.ts";
import { compilePattern } from "./pattern.ts";
import { containsText, findRequiredLiteral } from "./required_literal.ts";

const CASES: readonly (readonly [source: string, literal: string | undefined])[] = [
  ["needle_in", "needle_in"],
  ["import \\w+_in", "_in"],
  ["[a-z]+_in_[a-z]+", "_in_"],
  ["const .*needle", "needle"],
  ["foo\\.bar\\(", "foo.bar("],
  ["abcd?", "abc"],
  ["abcd*e", "abc"],
  ["abcd{0,2}", "abc"],
  ["abcd+efghi", "abcd"],
  ["abc|def", undefined],
  ["(abc|def)ghi", "ghi"],
  ["(abcdef)?ghi", "ghi"],
  ["ab", undefined],
  ["(?i)abc", undefined],
  ["a[bc]d", undefined],
  ["[[:alpha:]]abc", undefined],
  ["abc\\z", undefined],
  ["\\x41bcd", "bcd"],
  ["\\u0041bcd", "bcd"],
  ["\\u{41}bcd", "bcd"],
  ["\\p{Greek}abc", "abc"],
  ["(abc)\\1xyz", undefined],
  ["^abc$", "abc"],
  ["éabc", "abc"],
  ["[]abc]def", "def"],
  ["fn {name}", "name"],
];

for (const [source, literal] of CASES) {
  Deno.test(`findRequiredLiteral(): finds ${JSON.stringify(literal)} in ${source}`, () => {
    assertEquals(findRequiredLiteral({ source, ignoreCase: false, multiline: false }), literal);
  });
}

Deno.test("findRequiredLiteral(): finds none when case is ignored or matches span lines", () => {
  const source = "needle";
  assertEquals(findRequiredLiteral({ source, ignoreCase: true, multiline: false }), undefined);
  assertEquals(findRequiredLiteral({ source, ignoreCase: false, multiline: true }), undefined);
});

Deno.test("containsText(): finds a text at any place, also when its rarest character is frequent", () => {
  const encode = (text: string) => new TextEncoder().encode(text);
  for (
    const filler of [
      "",
      "é",
      "_".repeat(3),
      "x_y ".repeat(400),
      "_".repeat(2_000),
      "a_b_".repeat(600),
    ]
  ) {
    for (const text of ["a_b", "_in_", "needle", "__x"]) {
      for (
        const content of [
          filler + text,
          text + filler,
          filler + text + filler,
          filler,
          filler + text.slice(1),
        ]
      ) {
        assertEquals(
          containsText(encode(content), text),
          content.includes(text),
          `${text} in ${content}`,
        );
      }
    }
  }
});

const PARTS = [
  "abc",
  "foo_",
  "x",
  "a",
  "\\.",
  "\\w",
  "[ab]",
  "[^a]",
  ".",
  "^",
  "$",
  "\\b",
  "(abc)",
  "(a|foo)",
  "\\d",
  " ",
];
const ROUNDS = Deno.env.get("SWINK_PROVE") === "1" ? 4_000 : 1_000;
const QUANTIFIERS = ["", "", "", "", "?", "*", "+", "{2}", "{0,1}", "|"];

Deno.test("findLines(): has the same lines with and without the required text, for random patterns", () => {
  const random = seededRandom(7);
  const pick = (values: readonly string[]) => values[Math.floor(random() * values.length)] ?? "";
  const words = [
    "abc",
    "abcabc",
    "foo_",
    "foo",
    "a",
    "x.",
    " ",
    "é",
    "1",
    "\n",
    "\n",
    "foo_abc",
    "b",
    "\r\n",
  ];
  let found = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const source = Array.from({ length: 1 + Math.floor(random() * 5) }, () => {
      const part = pick(PARTS);
      return part + (/^[$^]|\\b$/.test(part) ? "" : pick(QUANTIFIERS));
    }).join("");
    const pattern = compilePattern({ source, ignoreCase: false, multiline: false });
    if (pattern.literal !== undefined) found++;
    const bytes = new TextEncoder().encode(
      Array.from({ length: 40 }, () => pick(words)).join(random() < 0.5 ? "" : " "),
    );
    const options = { pattern, multiline: false, limit: 1_000 };
    const expected = findLines(bytes, { ...options, pattern: { ...pattern, literal: undefined } });
    assertEquals(
      findLines(bytes, options),
      expected,
      `${source} in ${new TextDecoder().decode(bytes)}`,
    );
  }
  assert(found > ROUNDS / 8, String(found));
});
