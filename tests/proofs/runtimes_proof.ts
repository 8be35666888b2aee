/**
 * Runs the tests that need no Deno from the npm package on every other runtime.
 *
 * `SWINK_RUNTIME="Node 20"` selects a runtime, and `SWINK_FILES=src/sync,tests/acceptance` the tests whose paths begin so.
 *
 * @module
 */

import { assert } from "@std/assert";
import { buildPackageIfChanged } from "../../scripts/npm/build.ts";
import { listPortableTests } from "../runtimes/portable_tests.ts";
import { createTestApp, isInstalled, RUNTIMES } from "../runtimes/runtimes.ts";
import { runTestFiles } from "../runtimes/test_files.ts";

const RUNTIME = Deno.env.get("SWINK_RUNTIME");
const FILES = Deno.env.get("SWINK_FILES")?.split(",");

for (const runtime of RUNTIMES) {
  if (RUNTIME !== undefined && RUNTIME !== runtime.name) continue;
  Deno.test({
    name: `npm package, ${runtime.name}: passes all tests that need no Deno`,
    ignore: !isInstalled(runtime),
    async fn() {
      const tests = (await listPortableTests()).filter((path) =>
        FILES?.some((start) => path.startsWith(start)) ?? true
      );
      await buildPackageIfChanged();
      await using app = await createTestApp(tests);
      const { passed, skipped, problems } = await runTestFiles(runtime, app, tests);
      assert(problems.length === 0, problems.join("\n"));
      assert(passed > (FILES ? 0 : 8_000), `only ${passed} tests ran`);
      console.log(
        `${runtime.name}: ${passed} tests of ${tests.length} files passed, ${skipped} are left out`,
      );
    },
  });
}
