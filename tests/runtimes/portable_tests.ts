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
  "tests/acp",
  "tests/adapters",
  "tests/ag_ui",
  "tests/ai_sdk",
  "tests/cassettes",
  "tests/conformance",
  "tests/durable",
  "tests/eval",
  "tests/local",
  "tests/mcp",
  "tests/protocols",
  "tests/runtimes/library",
  "tests/sandbox",
  "tests/server",
  "tests/telemetry",
  "tests/testing",
];

/**
 * Files whose tests are about Deno, run other programs with it, read files of the project such as `deno.json`, or need a
 * program or a package that is installed for Deno only: Chromium, Postgres, `xmllint-wasm`.
 */
const EXCLUDED_FILES: readonly RegExp[] = [
  /^src\/tools\/confinement\/(confined_exec|remote_modules)_test\.ts$/,
  /^src\/(mcp\/protocol\/client|protocols\/acp\/sdk|telemetry\/api)_package_test\.ts$/,
  /^src\/tools\/documents\/npm_package_test\.ts$/,
  /^tests\/conformance\/leaks_test\.ts$/,
  /^tests\/adapters\/(aimock|cassette|loopback|official_types|worked_example\/document)_test\.ts$/,
  /^tests\/(ag_ui\/example_page|eval\/html_report|server\/page)_test\.ts$/,
  /^tests\/(cassettes\/crash|eval\/(kill|reports)|local\/cli|telemetry\/deno_exporter)_test\.ts$/,
  /^tests\/durable\/(dbos_.*|event_rows|packages|restate_.*|run_tables)_test\.ts$/,
  /^tests\/sandbox\/(commands|escape|hidden_secrets|search_path|second_mounts)_test\.ts$/,
  /^tests\/server\/(durable_kill|postgres)_test\.ts$/,
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
