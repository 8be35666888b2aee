import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { countLines, countPrograms } from "./compare_code.ts";

Deno.test("countLines() counts neither imports nor comments nor blank lines", () => {
  const source = [
    'import { a } from "a";',
    "import {",
    "  type B,",
    "  c,",
    '} from "b";',
    "",
    "// A comment.",
    "/**",
    " * Another one.",
    " */",
    "const d = await import(`e`); // counts",
    "  // one with a margin",
    "console.log(a, c, d);",
    "",
  ].join("\n");
  assertEquals(countLines(source), 2);
});

Deno.test("the page of benchmarks and the README have the lines of the programs, of which none is longer with this library", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/benchmarks.md", import.meta.url));
  const cells = page.split("\n").map((line) =>
    line.split("|").slice(1, -1).map((cell) => cell.trim())
  );
  const programs = await countPrograms();
  assertEquals(programs.length, 8);
  for (const program of programs) {
    assertEquals(cells.find(([purpose]) => purpose === program[0]), program);
    assert(Number(program[1]) <= Number(program[2]), program[0]);
  }
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const [own, other] = [1, 2].map((column) =>
    programs.reduce((sum, program) => sum + Number(program[column]), 0)
  );
  assertStringIncludes(readme, `${own} lines with this library and ${other} with AI SDK`);
});
