import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { findSourceFiles, readImports } from "./architecture/imports.ts";
import { root } from "./project.ts";

const { imports }: { imports: Record<string, string> } = JSON.parse(
  await readProjectFile("deno.json"),
);

function readProjectFile(path: string): Promise<string> {
  return Deno.readTextFile(new URL(path, root));
}

Deno.test("every dependency has its reason in docs/dependencies.md", async () => {
  const text = await readProjectFile("docs/dependencies.md");
  for (const specifier of Object.values(imports)) {
    assertStringIncludes(text, `\`${specifier.replace(/@[^@/]*$/, "")}\``);
  }
});

Deno.test("every dependency is used", async () => {
  const unused = new Set(Object.keys(imports));
  for (const folder of ["mod.ts", "src", "adapters", "cli", "tests", "tools", "bench"]) {
    for await (const path of findSourceFiles(folder)) {
      for (const specifier of readImports(path, await readProjectFile(path)).others) {
        unused.delete(getPackageName(specifier));
      }
    }
  }
  assertEquals([...unused], []);
});

Deno.test("every JSR package has a stand-in with its name and a version in range", async () => {
  for (const specifier of Object.values(imports).filter((text) => text.startsWith("jsr:"))) {
    const [, name = "", range = ""] = specifier.match(/^jsr:(@[^@]+)@\^(.+)$/) ?? [];
    const folder = name.slice(1).replace("/", "_").replaceAll("-", "_");
    const standIn = JSON.parse(await readProjectFile(`scripts/offline/${folder}/deno.json`));
    assertEquals(standIn.name, name);
    assert(isInRange(standIn.version, range), `${standIn.version} is not in ^${range}`);
  }
});

/** `@std/testing` for `@std/testing/time`. */
function getPackageName(specifier: string): string {
  return specifier.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? specifier;
}

/** Whether a version is in the caret range of another from 1.0.0 on. */
function isInRange(version: string, least: string): boolean {
  const collator = new Intl.Collator("en", { numeric: true });
  return version.split(".")[0] === least.split(".")[0] && collator.compare(version, least) >= 0;
}
