/**
 * The tests that run on every runtime.
 *
 * @module
 */

import { sourceFiles } from "../architecture/imports.ts";

/** Directories whose tests do not need Deno, apart from those in `excluded_tests.ts`. */
const PORTABLE_DIRECTORIES = [
  "adapters",
  "src",
  "tests/acceptance",
  "tests/conformance",
  "tests/runtimes/library",
];

/** Files whose tests are about Deno, run other programs with it, or compare a version with that of `deno.json`. */
const EXCLUDED_FILES: readonly RegExp[] = [
  /^adapters\/kit\/http\/proxy_test\.ts$/,
  /^src\/tools\/(isolated\/|confinement\/(confined_exec|remote_modules)_test\.ts$|process\/isolated_worker_test\.ts$)/,
  /^src\/(mcp\/protocol\/client|protocols\/acp\/sdk|telemetry\/api)_package_test\.ts$/,
  /^src\/tools\/documents\/(pdf_text|document_worker)_test\.ts$/,
  /^src\/platform\/worker_test\.ts$/,
  /^tests\/conformance\/leaks_test\.ts$/,
];

/** Lists the tests in some directories, by default all that run on every runtime. */
export async function listPortableTests(
  directories: readonly string[] = PORTABLE_DIRECTORIES,
): Promise<string[]> {
  const tests: string[] = [];
  for (const directory of directories) {
    for await (const path of sourceFiles(directory)) {
      const isExcluded = EXCLUDED_FILES.some((pattern) => pattern.test(path));
      if (path.endsWith("_test.ts") && !isExcluded) tests.push(path);
    }
  }
  return tests.toSorted();
}
