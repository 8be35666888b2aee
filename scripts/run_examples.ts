/**
 * Runs the TypeScript examples in pages and comments, each as a test.
 *
 * All run in one isolate, which loads the library once; `deno test --doc` would load it for each example. The types are
 * checked by `scripts/check_types.ts`.
 *
 * Usage: `deno run -A scripts/run_examples.ts CONFIG`
 *
 * @module
 */

import { type Example, readExamples, writeExamples } from "./examples.ts";

const root = new URL("../", import.meta.url);

async function runExamples([config = "deno.json"]: string[]): Promise<number> {
  const directory = await Deno.makeTempDir({ prefix: "swink_examples_" });
  try {
    const examples = (await readExamples()).filter(({ runs }) => runs);
    const files = await writeExamples(directory, examples);
    const tests = `${directory}/examples_test.ts`;
    await Deno.writeTextFile(tests, formatTests(examples, files));
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "-A", "--no-check", "-c", config, tests],
      cwd: root,
      // Examples leave their directories, which are removed with this one.
      env: { TMPDIR: directory, TEMP: directory },
    }).spawn().status;
    return code;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Returns a module with a test for each example, which imports its file. */
export function formatTests(examples: readonly Example[], files: readonly string[]): string {
  return examples.map(({ place }, index) =>
    `Deno.test(${JSON.stringify(place)}, async () => {
  await import(${JSON.stringify(`./${files[index]}`)});
});
`
  ).join("");
}

if (import.meta.main) Deno.exit(await runExamples(Deno.args));
