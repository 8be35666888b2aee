import { assertEquals } from "@std/assert";
import { sourceFiles } from "../tests/architecture/imports.ts";
import { root } from "../tests/project.ts";
import { formatIgnoredTests, getIgnoreReason } from "./ignored_tests.ts";

Deno.test("formatIgnoredTests() counts the tests of each reason", () => {
  assertEquals(formatIgnoredTests([]), "0 ignored");
  assertEquals(
    formatIgnoredTests([
      { file: "tests/live/providers_test.ts", name: "live openai: answers" },
      { file: "cli/a_test.ts", name: "b" },
      { file: "tests/live/providers_test.ts", name: "live google: answers" },
    ]),
    "3 ignored: 2 without an API key of the provider; 1 without a reason in scripts/ignored_tests.ts",
  );
});

Deno.test("getIgnoreReason() has a reason for every file with ignored tests", async () => {
  const unexplained: string[] = [];
  for (const directory of ["src", "adapters", "cli", "scripts", "tests"]) {
    for await (const file of sourceFiles(directory)) {
      const text = await Deno.readTextFile(new URL(file, root));
      const ignores = /\bDeno\.test\.ignore\(|[ {]ignore: |^\s*ignore,$/m.test(text);
      if (ignores && getIgnoreReason({ file, name: "" }).includes("without a reason")) {
        unexplained.push(file);
      }
    }
  }
  assertEquals(unexplained, []);
});
