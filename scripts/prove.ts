/**
 * Runs the long proofs: the files named `*_proof.ts`, and all cases of the tests that otherwise run a sample.
 *
 * Such tests read the variable `SWINK_PROVE`.
 *
 * @module
 */

import { runTests } from "./run_tests.ts";

/** Matches the source of tests that run a sample: they read the variable, or import a module that does. */
const SAMPLING_PATTERN = /SWINK_PROVE|\b(IS_PROOF_RUN|PROVES)\b|wire_(tests|fixtures)/;
const ROOTS = ["src", "adapters", "cli", "tests"];

async function* walkFiles(directory: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory) yield* walkFiles(path);
    else yield path;
  }
}

async function findProofs(): Promise<string[]> {
  const proofs: string[] = [];
  for (const root of ROOTS) {
    for await (const path of walkFiles(root)) {
      if (path.endsWith("_proof.ts") || await isSampled(path)) proofs.push(path);
    }
  }
  return proofs.toSorted();
}

async function isSampled(path: string): Promise<boolean> {
  return path.endsWith("_test.ts") && SAMPLING_PATTERN.test(await Deno.readTextFile(path));
}

if (import.meta.main) Deno.exit(await runTests([...await findProofs(), ...Deno.args]));
