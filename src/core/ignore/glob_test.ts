import { assertEquals } from "@std/assert";
import { compileGlob } from "./glob.ts";

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
