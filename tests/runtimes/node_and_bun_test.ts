import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { VERSION } from "../../cli/host/version.ts";
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
      assertEquals(await runModule(runtime, app, ["imports.js"]), { success: true, text: "" });
    },
  });

  Deno.test({
    name:
      `npm package, ${runtime.name}: swink runs on the deno program in PATH, and names it if there is none`,
    ignore: !isInstalled(runtime),
    async fn() {
      await using app = await createTestApp([]);
      const args = ["node_modules/@swink/agent/bin/swink.js", "--version"];
      const PATH = Deno.execPath().replace(/[^/]*$/, "");
      const env = { PATH, NO_COLOR: "1" };
      assertEquals(await runModule(runtime, app, args, env), {
        success: true,
        text: `${VERSION}\n`,
      });
      const { text: help } = await runModule(runtime, app, [...args.slice(0, 1), "--help"], env);
      assertStringIncludes(help, "Usage:"); // printed by a module that is loaded late
      const missing = await runModule(runtime, app, args, { PATH: app.path });
      assertEquals(missing.success, false);
      assertStringIncludes(missing.text, "Install it: npm install --global deno");
    },
  });
}
