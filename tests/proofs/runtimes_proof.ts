import { assert } from "@std/assert";
import { listPortableTests } from "../runtimes/portable_tests.ts";
import { createTestApp, isInstalled, runTests, RUNTIMES } from "../runtimes/runtimes.ts";

for (const runtime of RUNTIMES) {
  Deno.test({
    name: `npm package, ${runtime.name}: passes all tests that need no Deno`,
    ignore: !isInstalled(runtime),
    async fn() {
      const tests = await listPortableTests();
      await using app = await createTestApp(tests);
      const { success, passed, text } = await runTests(runtime, app, tests);
      assert(success, text);
      assert(passed > 1_000, `only ${passed} tests ran`);
      console.log(`${runtime.name}: ${passed} tests passed`);
    },
  });
}
