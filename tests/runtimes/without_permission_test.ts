import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readPublicModules, root, runDeno } from "../project.ts";

Deno.test("without permissions: an agent runs a tool", async () => {
  const { success, text } = await runDeno("run", [
    "--no-prompt",
    "--quiet",
    "tests/runtimes/without_permission.ts",
  ]);
  assert(success, text);
  assertStringIncludes(text, '"texts":["What is 19 + 23?","42","The sum is 42."]');
  assertStringIncludes(text, `"stopReason":"stop"`);
});

Deno.test("without permissions: every public module of the library can be imported and prints nothing", async () => {
  const modules = Object.values(await readPublicModules()).filter((path) =>
    !path.startsWith("./cli/")
  );
  const imports = modules.map((path) => `import ${JSON.stringify(new URL(path, root).href)};`);
  const module = `data:text/typescript,${encodeURIComponent(imports.join("\n"))}`;

  const { success, text } = await runDeno("run", ["--no-prompt", "--quiet", "--no-check", module]);
  assert(success, text);
  assertEquals(text, "");
});
