import { assertEquals } from "@std/assert";
import { isWatching } from "./run_tests.ts";

Deno.test("isWatching() finds --watch among the options of deno test", () => {
  assertEquals(isWatching(["--watch", "src"]), true);
  assertEquals(isWatching(["--watch=docs/cli.md"]), true);
  assertEquals(isWatching(["src", "--filter", "watch"]), false);
  assertEquals(isWatching(["src", "--", "--watch"]), false);
});
