/**
 * Runs the examples and compares their output with the comment at their end.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { root, runDeno } from "./project.ts";

const names = Array.from(Deno.readDirSync(new URL("examples/", root)), ({ name }) => name)
  .filter((name) => name.endsWith(".ts"))
  .toSorted();

for (const name of names) {
  Deno.test(`examples/${name}: prints the output in its last comment`, async () => {
    const source = await Deno.readTextFile(new URL(`examples/${name}`, root));
    const [, expected] = source.split("\n// Prints:\n");
    assert(expected, `${name} has no comment that begins with "Prints:"`);
    const TMPDIR = await Deno.makeTempDir({ prefix: "swink_examples_" });
    const env = { NO_COLOR: "1", TMPDIR };
    const { success, text } = await runDeno("run", ["-A", "--quiet", `examples/${name}`], env);
    await Deno.remove(TMPDIR, { recursive: true });
    assert(success, text);
    assertEquals(text.trimEnd(), expected.trimEnd().replaceAll(/^\/\/ ?/gm, ""));
  });
}

Deno.test("examples: file names are numbered consecutively from 1", () => {
  const numbers = names.map((name) => Number(name.slice(0, 2)));
  assertEquals(numbers, numbers.map((_, index) => index + 1));
});
