import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { createNameMatcher } from "./name_matcher.ts";

Deno.test("createNameMatcher(): matches complete names, with * for any characters", () => {
  const cases: [pattern: string, name: string, matches: boolean][] = [
    ["read", "read", true],
    ["read", "read_file", false],
    ["read*", "read", true],
    ["*file", "read_file", true],
    ["*_file", "file", false],
    ["a*a", "a", false],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "acb", false],
    ["*", "", true],
    [".*", "read", false],
    ["", "read", false],
  ];
  for (const [pattern, name, matches] of cases) {
    assertEquals(createNameMatcher([pattern])(name), matches, `${pattern} ${name}`);
  }
});

Deno.test("createNameMatcher(): any of the patterns matches, and none matches nothing", () => {
  assertEquals(createNameMatcher(["a", "b"])("b"), true);
  assertEquals(createNameMatcher([])("b"), false);
});

Deno.test("createNameMatcher(): matches in linear time", () => {
  const getThreadTime = startThreadTimer();
  createNameMatcher(["*a".repeat(100) + "*b"])("a".repeat(100_000));
  assert(getThreadTime() < 1_000);
});
