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
const SAMPLING_PATTERN = /SWINK_PROVE|\bPROVES\b|wire_(tests|fixtures)/;
const ROOTS = ["src", "adapters", "cli", "tests"];

async function* walkFiles(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* walkFiles(path);
    else yield path;
  }
}

async function findProofs(): Promise<string[]> {
  const found: string[] = [];
  for (const root of ROOTS) {
    for await (const path of walkFiles(root)) {
      if (path.endsWith("_proof.ts") || await isSampled(path)) found.push(path);
    }
  }
  return found.toSorted();
}

async function isSampled(path: string): Promise<boolean> {
  return path.endsWith("_test.ts") && SAMPLING_PATTERN.test(await Deno.readTextFile(path));
}

if (import.meta.main) Deno.exit(await runTests([...await findProofs(), ...Deno.args]));
