import { assert, assertEquals } from "@std/assert";
import { readPublicModules } from "../project.ts";
import { listPortableTests } from "./portable_tests.ts";
import { createTestApp, isInstalled, runModule, runTests, RUNTIMES } from "./runtimes.ts";

const tests = await listPortableTests(["tests/acceptance", "tests/runtimes/library"]);

for (const runtime of RUNTIMES) {
  Deno.test({
    name: `npm package, ${runtime.name}: passes the acceptance tests and the tests of the library`,
    ignore: !isInstalled(runtime),
    async fn() {
      await using app = await createTestApp(tests);
      const { success, passed, text } = await runTests(runtime, app, tests);
      assert(success, text);
      assert(passed > tests.length, `only ${passed} tests ran:\n${text}`);
    },
  });

  Deno.test({
    name: `npm package, ${runtime.name}: every public module can be imported and prints nothing`,
    ignore: !isInstalled(runtime),
    async fn() {
      await using app = await createTestApp([]);
      const modules = Object.keys(await readPublicModules());
      const imports = modules.map((module) => `import "@swink/agent${module.slice(1)}";`);
      await Deno.writeTextFile(`${app.path}/imports.js`, imports.join("\n"));
      assertEquals(await runModule(runtime, app, "imports.js"), { success: true, text: "" });
    },
  });
}
