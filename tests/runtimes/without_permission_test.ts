import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readPublicModules, root, runDeno } from "../project.ts";

Deno.test("an agent with a tool runs with no Deno permission", async () => {
  const { success, text } = await runDeno("run", [
    "--no-prompt",
    "--quiet",
    "tests/runtimes/without_permission.ts",
  ]);
  assert(success, text);
  assertStringIncludes(text, "42");
  assertStringIncludes(text, `"stopReason":"stop"`);
});

Deno.test("every public module of the library is imported with no permission, and does nothing", async () => {
  const modules = Object.values(await readPublicModules()).filter((path) =>
    !path.startsWith("./cli/")
  );
  const imports = modules.map((path) => `import ${JSON.stringify(new URL(path, root).href)};`);
  const module = `data:text/typescript,${encodeURIComponent(imports.join("\n"))}`;

  const { success, text } = await runDeno("run", ["--no-prompt", "--quiet", "--no-check", module]);
  assert(success, text);
  assertEquals(text, "");
});
