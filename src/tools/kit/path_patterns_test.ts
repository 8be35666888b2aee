import { assertEquals, assertThrows } from "@std/assert";
import { compilePathPatterns, normalizePattern } from "./path_patterns.ts";

Deno.test("normalizePattern(): has one form for patterns with the same meaning", () => {
  const cases = [
    ["a/b", "a/b"],
    [" ./a/./b ", "a/b"],
    ["a//b", "a/b"],
    ["a/../b/**", "b/**"],
    ["//a/../../b", "/../b"],
    ["../a", "../a"],
    ["a/../../b", "../b"],
    ["*/../a", "*/../a"],
    ["{a/..,b}", "{a/..,b}"],
    ["a/", "a/**"],
    ["a//", "a/**"],
    ["./", "**"],
    [".", "."],
    ["/", "/**"],
    ["", ""],
  ] as const;
  for (const [pattern, expected] of cases) {
    assertEquals(normalizePattern(pattern), expected, pattern);
  }
});

Deno.test("path patterns: match a path, a directory above it, and either in another case", () => {
  const matches = compilePathPatterns(["dist/", "*.key", "/data/{a,b}", "docs"]);
  const decide = (path: string) =>
    matches({
      displayed: path,
      canonical: path.startsWith("/") ? path : `/work/project/${path}`,
    });
  const paths = [
    "dist/a",
    "DIST/a/b",
    "dist",
    "a/b.key/c",
    "a/b.keys",
    "/data/b/c",
    "data/a",
    "docs/x",
  ];
  assertEquals(paths.map(decide), [true, true, false, true, false, true, false, true]);
  assertEquals(compilePathPatterns([" ", ""])({ displayed: "a", canonical: "/a" }), false);
});

Deno.test("path patterns: refuse more alternatives than can be compiled at once", () => {
  const braces = "{a,b,c,d,e,f,g,h,i,j}{a,b,c,d,e,f,g,h,i,j}{a,b,c,d,e,f}";
  assertEquals(compilePathPatterns([braces])({ displayed: "aab", canonical: "/x/aab" }), true);
  assertThrows(() => compilePathPatterns([braces, braces]), RangeError, "at most 1000");
});
