import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createDeadline } from "../deadline.ts";
import { root } from "../project.ts";
import { PACKAGES_DIRECTORY, type TestApp } from "./runtimes.ts";
import { getSharedApp } from "./shared_app.ts";

const isInstalled = await Deno.stat(`${PACKAGES_DIRECTORY}/node_modules/ajv`).then(
  () => true,
  () => false,
);

/** Returns the code blocks of the guide that are files, by name. */
async function readGuideFiles(): Promise<Map<string, string>> {
  const guide = await Deno.readTextFile(new URL("docs/add_an_adapter.md", root));
  const blocks = guide.matchAll(/<!-- file: \S+?(\w+\.ts) -->\n\n```ts ignore\n([\s\S]*?)```/g);
  return new Map([...blocks].map(([, name = "", code = ""]) => [name, code]));
}

/** Runs the tests of the guide in a project that has the npm package. */
async function runGuide(
  app: TestApp,
  flag: "--check" | "--no-check",
): Promise<{ success: boolean; text: string }> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["test", "--node-modules-dir=manual", "--no-lock", flag, "acme_test.ts"],
    cwd: app.path,
    env: { NO_COLOR: "1" },
    stdin: "null",
    signal: createDeadline(),
  });
  const { success, stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  return { success, text };
}

Deno.test({
  name:
    "docs/add_an_adapter.md: the adapter of the guide passes its tests in a project with the npm package",
  ignore: !isInstalled,
  async fn() {
    const files = await readGuideFiles();
    assertEquals([...files.keys()].toSorted(), [
      "acme.ts",
      "acme_test.ts",
      "request.ts",
      "response.ts",
    ]);
    const app = await getSharedApp();
    for (const [name, code] of files) await Deno.writeTextFile(`${app.path}/${name}`, code);
    const { success, text } = await runGuide(app, "--check");
    assert(success, text);
    assertStringIncludes(text, "20 passed | 0 failed");

    const broken = files.get("response.ts")?.replace('"tool_use"', '"stop"') ?? "";
    await Deno.writeTextFile(`${app.path}/response.ts`, broken);
    const failed = await runGuide(app, "--no-check");
    assertEquals(failed.success, false);
    assertStringIncludes(
      failed.text,
      'Expected the stop reason of the reply to be "tool_use", got "stop": the fixture says so; it was read in one chunk',
    );
  },
});
