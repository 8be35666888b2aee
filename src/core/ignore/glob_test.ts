import { assert, assertEquals, assertThrows } from "@std/assert";
import picomatch from "picomatch";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { compileGlob, compileGlobs } from "./glob.ts";

const CASES: readonly [glob: string, path: string, matches: boolean][] = [
  ["*.ts", "a.ts", true],
  ["*.ts", "src/deep/a.ts", true],
  ["*.ts", "a.tsx", false],
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/deep/a.ts", false],
  ["src/**/*.ts", "src/a.ts", true],
  ["src/**/*.ts", "src/x/y/a.ts", true],
  ["**/*.ts", "a.ts", true],
  ["/src/*.ts", "src/a.ts", true],
  ["./src/*.ts", "src/a.ts", true],
  ["src/**", "src/x/y", true],
  ["src/**", "src", false],
  ["*.{ts,js}", "x/a.js", true],
  ["*.{ts,js}", "a.md", false],
  ["{a,b{c,d}}.x", "bd.x", true],
  ["a?c", "abc", true],
  ["a?c", "a/c", false],
  ["[a-c].x", "b.x", true],
  ["[!a-c].x", "b.x", false],
  ["[!a].x", "/.x", false],
  ["[[:digit:]]x", "7x", true],
  ["[[:alnum:]][[:alpha:]][[:blank:]][[:lower:]]", "7a\tz", true],
  ["[[:punct:]][[:space:]][[:upper:]][[:xdigit:]]", "~\nZF", true],
  ["[[:alpha:]]", "7", false],
  ["[[:xdigit:]]", "g", false],
  ["a,b}", "a,b}", true],
  ["{a,b},c", "b,c", true],
  ["a.b", "axb", false],
  ["(x)+$^|", "(x)+$^|", true],
  ["a\\*b", "a*b", true],
  ["a\\*b", "axb", false],
  ["[z-a]", "b", false],
  ["[", "[", true],
  ["{a", "{a", true],
  ["{{a}", "{a", true],
  ["{a}}", "a}", true],
  ["*", "with\nnewline", true],
  ["😀?", "😀😀", true],
];

for (const [glob, path, matches] of CASES) {
  const verb = matches ? "matches" : "does not match";
  Deno.test(`compileGlob(): ${JSON.stringify(glob)} ${verb} ${JSON.stringify(path)}`, () => {
    assertEquals(compileGlob(glob)(path), matches);
  });
}

/** Parts of globs whose meaning is the same in picomatch, apart from braces with one alternative. */
const PARTS = ["a", "b", "ab", ".", "*", "*", "?", "[ab]", "[^a]", "{a,b}", "{a,b*}", "\\*"];
const DIRECTORIES = ["**", "**", "*", "a", "b", "a*b", "{a,b}"];
const NAMES = ["a", "b", "ab", "aab", "abab", "a.b", ".a", "*", "b.a", "c"];

Deno.test("compileGlob(): agrees with picomatch on random globs and paths", () => {
  const random = seededRandom(11);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? "";
  const join = (from: readonly string[], maximum: number, separator: string) =>
    Array.from({ length: 1 + Math.floor(random() * maximum) }, () => pick(from)).join(separator);
  for (let round = 0; round < 2_000; round++) {
    const directories = random() < 0.5 ? [] : [join(DIRECTORIES, 3, "/")];
    const glob = [...directories, join(PARTS, 4, "")].join("/").replace(/\*{3,}/g, "*");
    // A globstar next to other characters of its segment has no common meaning.
    if (/[^/]\*\*|\*\*[^/]/.test(glob)) continue;
    const expected = picomatch(glob.includes("/") ? glob : `**/${glob}`, { dot: true });
    const matches = compileGlob(glob);
    for (let path = 0; path < 10; path++) {
      const name = join(NAMES, 4, "/");
      // In picomatch `a/**` also matches `a`.
      if (glob.endsWith("/**")) continue;
      assertEquals(matches(name), expected(name), `${glob} on ${name}`);
    }
  }
});

const REPEATED_DIRECTORIES = "a/".repeat(1_000);
const HOSTILE_GLOBS: readonly (readonly [glob: string, path: string])[] = [
  [`${"**/".repeat(15)}x`, `${REPEATED_DIRECTORIES}b`],
  [`${"**/a/".repeat(15)}x`, `${REPEATED_DIRECTORIES}b`],
  [`${"**/*a*/".repeat(15)}x`, `${REPEATED_DIRECTORIES}b`],
  [`${"*a".repeat(100)}b`, "a".repeat(4_000)],
  [`x/${"*a".repeat(100)}*/${"*a".repeat(100)}*`, `x/${"a".repeat(2_000)}/${"a".repeat(99)}`],
  ["{a,b}".repeat(9), "a".repeat(4_000)],
  [`${"*{a,b}".repeat(9)}c`, "ab".repeat(100)],
];

for (const [glob, path] of HOSTILE_GLOBS) {
  Deno.test(`compileGlob(): takes seconds at most, not minutes, for ${glob.slice(0, 20)}…`, () => {
    const getThreadTime = startThreadTimer();
    assertEquals(compileGlob(glob)(path), false);
    // The slowest one takes 0.3 s on an idle machine.
    assert(getThreadTime() < 10_000);
  });
}

Deno.test("compileGlob(): rejects long globs and globs with many alternatives", () => {
  const longest = "a".repeat(4_096);
  assert(compileGlob(longest)(longest));
  assertThrows(() => compileGlob(`${longest}a`), RangeError, "longer than 4096 characters");
  const thousand = Array.from({ length: 1_000 }, (_, index) => index).join(",");
  assert(compileGlob(`{${thousand}}`)("999"));
  assertThrows(() => compileGlob(`{${thousand},x}`), RangeError, "too many alternatives");
  assertThrows(() => compileGlob("{a,b}".repeat(11)), RangeError, "too many alternatives");
});

Deno.test("compileGlobs(): matches paths that match any of the globs", () => {
  const matches = compileGlobs(["*.key", "**/.ssh/**", ".env", "a/*.b"]);
  const paths = ["x.key", "d/x.key", "d/.ssh/x", ".ssh/d/x", "d/.env", "a/x.b", "d/a/x.b", ".ssh"];
  assertEquals(paths.filter(matches), paths.slice(0, 6));
});
