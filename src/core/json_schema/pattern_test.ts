// Needs its own isolate: the first tests expect that RE2 is not loaded yet.
import { assert, assertEquals, assertThrows } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { canCreateMatchers, createMatcher, loadMatchers } from "./pattern.ts";

/** Patterns that `RegExp` matches in linear time. */
const BOUNDED = [
  "abc",
  "^a+",
  "^[a-z_]*$",
  "^\\d{3}-\\d{2}$",
  "^v\\d+?$",
  "a{10}",
  "(ab)c",
  "a|b",
  "\\+\\*",
  "[+*?|]{2}",
  "^(?=ab)a",
];

/** Patterns that may take long with `RegExp`. */
const UNBOUNDED = [
  "a+",
  "^a+b*",
  "^(a+)+$",
  "^(a|b)+$",
  "(a|b|c)",
  "^a+|b",
  "a{11}a{11}",
  "a{2,}b",
  "(a){3}",
  "(a)\\1",
];

// These tests run before RE2 is loaded, which cannot be undone.
for (const pattern of BOUNDED) {
  Deno.test(`canCreateMatchers(): ${pattern} needs no RE2`, () =>
    assertEquals(canCreateMatchers([pattern]), true));
}

for (const pattern of UNBOUNDED) {
  Deno.test(`canCreateMatchers(): ${pattern} needs RE2`, () =>
    assertEquals(canCreateMatchers(["a", pattern]), false));
}

Deno.test("canCreateMatchers(): takes seconds at most, not minutes, for patterns of 200 KB", () => {
  const getThreadTime = startThreadTimer();
  for (const piece of ["[", "(", "{", "\\", "[\\", "(?", "a{1"]) {
    canCreateMatchers([piece.repeat(200_000)]);
  }
  assert(getThreadTime() < 10_000);
});

Deno.test("createMatcher(): reads a pattern with the flag u, or without it if only that makes it valid", () => {
  assertEquals(createMatcher("^.$").test("😀"), true);
  assertEquals(createMatcher("^[\\w-\\.]$").test("-"), true);
  assertThrows(() => createMatcher("("), SyntaxError);
});

Deno.test("createMatcher(): patterns match the same with RE2, which fails for what it cannot bound", async () => {
  await loadMatchers(["^(a+)+$"]);
  assertEquals(canCreateMatchers(UNBOUNDED), true);
  assertEquals(createMatcher("^(a+)+$").test("aaaa"), true);
  assertEquals(createMatcher("^(a+)+$").test("aaa!"), false);
  assertEquals(createMatcher("^(?=ab)a").test("ab"), true);
  assertThrows(() => createMatcher("(a)\\1"));
  assertThrows(() => createMatcher("^(?=a)(b+)+"));
});
