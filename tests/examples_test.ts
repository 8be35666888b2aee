/**
 * Runs the examples and compares their output with the comment at their end.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { listPaths } from "./documentation/project_paths.ts";
import { root, runDeno } from "./project.ts";

const names = Array.from(Deno.readDirSync(new URL("examples/", root)), ({ name }) => name)
  .filter((name) => name.endsWith(".ts"))
  .toSorted();

/** Runs all programs in one process, which loads the library once, and returns the output of each. */
async function runAll(): Promise<ReadonlyMap<string, string>> {
  const TMPDIR = await Deno.makeTempDir({ prefix: "swink_examples_" });
  const args = [
    "-A",
    "--quiet",
    "tests/run_programs.ts",
    ...names.map((name) => `examples/${name}`),
  ];
  const { success, text } = await runDeno("run", args, { NO_COLOR: "1", TMPDIR });
  await Deno.remove(TMPDIR, { recursive: true });
  assert(success, text);
  const [, ...parts] = text.split(/^=== Output of examples\/(.*)\n/m);
  return new Map(names.map((_, index) => [parts[index * 2] ?? "", parts[index * 2 + 1] ?? ""]));
}

let running: Promise<ReadonlyMap<string, string>> | undefined;

for (const name of names) {
  Deno.test(`examples/${name}: prints the output in its last comment`, async () => {
    const source = await Deno.readTextFile(new URL(`examples/${name}`, root));
    const [, expected] = source.split("\n// Prints:\n");
    assert(expected, `${name} has no comment that begins with "Prints:"`);
    const output = (await (running ??= runAll())).get(name);
    assertEquals(output?.trimEnd(), expected.trimEnd().replaceAll(/^\/\/ ?/gm, ""));
  });
}

/** Programs of several steps, which are longer. */
const LONGER = ["17_plan_mode.ts", "19_worktree.ts", "27_durable_run.ts"];

Deno.test("examples: programs have less than 40 lines of code", async () => {
  const long: string[] = [];
  for (const name of names) {
    const source = await Deno.readTextFile(new URL(`examples/${name}`, root));
    const lines = source.split("\n").filter((line) => !/^\s*(\/\/.*)?$/.test(line));
    if (lines.length >= 40) long.push(name);
  }
  assertEquals(long, LONGER);
});

// The path of a URL has %20 in place of a space, and a / before the drive letter of Windows.
Deno.test("examples: programs find their files on Windows, and in directories with a space in their name", async () => {
  const directory = new URL("examples/", root);
  const wrong: string[] = [];
  for (const path of await listPaths(directory)) {
    if (!path.endsWith(".ts")) continue;
    const source = await Deno.readTextFile(new URL(path, directory));
    if (/import\.meta\.url\)\.pathname/.test(source)) wrong.push(path);
  }
  assertEquals(wrong, []);
});

Deno.test("examples: examples/README.md lists each program once", async () => {
  const page = await Deno.readTextFile(new URL("examples/README.md", root));
  const links = Array.from(page.matchAll(/\]\((\w+\.ts)\)/g), ([, name = ""]) => name);
  assertEquals(links.toSorted(), names);
});

Deno.test("examples: file names are numbered consecutively from 1", () => {
  const numbers = names.map((name) => Number(name.slice(0, 2)));
  assertEquals(numbers, numbers.map((_, index) => index + 1));
});
