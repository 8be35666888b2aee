import { assertEquals } from "@std/assert";
import { isWatching, namesFiles } from "./run_tests.ts";

Deno.test("isWatching() finds --watch among the options of deno test", () => {
  assertEquals(isWatching(["--watch", "src"]), true);
  assertEquals(isWatching(["--watch=docs/cli.md"]), true);
  assertEquals(isWatching(["src", "--filter", "watch"]), false);
  assertEquals(isWatching(["src", "--", "--watch"]), false);
});

Deno.test("namesFiles() is true if an argument before -- may be a file", () => {
  assertEquals(namesFiles(["src"]), true);
  assertEquals(namesFiles(["--filter", "agent"]), true);
  assertEquals(namesFiles(["--quiet", "--", "--update", "a"]), false);
  assertEquals(namesFiles([]), false);
});
