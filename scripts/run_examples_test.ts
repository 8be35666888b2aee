import { assertEquals } from "@std/assert";
import { formatTests } from "./run_examples.ts";

Deno.test("formatTests() writes a test for each example, which imports its file", () => {
  const examples = [{ place: "docs/a.md:1", source: "run();\n", runs: true }];
  assertEquals(
    formatTests(examples, ["docs_a.md_1.ts"]),
    'Deno.test("docs/a.md:1", async () => {\n  await import("./docs_a.md_1.ts");\n});\n',
  );
});
