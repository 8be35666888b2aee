/**
 * Runs the long proofs: everything under `tests/proofs`, and at full count every test that draws a sample of its
 * cases in an ordinary run.
 *
 * Such a test looks at the variable `SWINK_PROVE`.
 *
 * @module
 */

import { runTests } from "./run_tests.ts";

/** How a test tells that it draws a sample: by the variable, or through what asks for it on its behalf. */
const SAMPLING = /SWINK_PROVE|\bPROVES\b|wire_(tests|fixtures)/;
const ROOTS = ["src", "adapters", "cli", "tests"];

async function* filesUnder(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* filesUnder(path);
    else yield path;
  }
}

async function proofs(): Promise<string[]> {
  const found: string[] = [];
  for (const root of ROOTS) {
    for await (const path of filesUnder(root)) {
      if (path.endsWith("_proof.ts") || await samples(path)) found.push(path);
    }
  }
  return found.toSorted();
}

async function samples(path: string): Promise<boolean> {
  return path.endsWith("_test.ts") && SAMPLING.test(await Deno.readTextFile(path));
}

if (import.meta.main) Deno.exit(await runTests([...await proofs(), ...Deno.args]));
