/**
 * Every example runs, and prints what it says it prints.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { root, runDeno } from "./project.ts";

const names = Array.from(Deno.readDirSync(new URL("examples/", root)), ({ name }) => name)
  .filter((name) => name.endsWith(".ts"))
  .toSorted();

for (const name of names) {
  Deno.test(`examples/${name} runs, and prints what it says`, async () => {
    const source = await Deno.readTextFile(new URL(`examples/${name}`, root));
    const [, promised] = source.split("\n// Prints:\n");
    assert(promised, `${name} does not say what it prints`);
    const TMPDIR = await Deno.makeTempDir({ prefix: "swink_examples_" });
    const env = { NO_COLOR: "1", TMPDIR };
    const { success, text } = await runDeno("run", ["-A", "--quiet", `examples/${name}`], env);
    await Deno.remove(TMPDIR, { recursive: true });
    assert(success, text);
    assertEquals(text.trimEnd(), promised.trimEnd().replaceAll(/^\/\/ ?/gm, ""));
  });
}

Deno.test("the examples are numbered as a course", () => {
  const numbers = names.map((name) => Number(name.slice(0, 2)));
  assertEquals(numbers, numbers.map((_, index) => index + 1));
});
