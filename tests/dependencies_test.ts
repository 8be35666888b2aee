import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readImports, sourceFiles } from "./architecture/imports.ts";
import { root } from "./project.ts";

const { imports }: { imports: Record<string, string> } = JSON.parse(await read("deno.json"));

function read(path: string): Promise<string> {
  return Deno.readTextFile(new URL(path, root));
}

Deno.test("every dependency has its reason in docs/dependencies.md", async () => {
  const text = await read("docs/dependencies.md");
  for (const specifier of Object.values(imports)) {
    assertStringIncludes(text, `\`${specifier.replace(/@[^@/]*$/, "")}\``);
  }
});

Deno.test("every dependency is used", async () => {
  const unused = new Set(Object.keys(imports));
  for (const directory of ["mod.ts", "src", "adapters", "cli", "tests", "scripts", "bench"]) {
    for await (const path of sourceFiles(directory)) {
      for (const specifier of readImports(path, await read(path)).others) {
        unused.delete(getPackageName(specifier));
      }
    }
  }
  assertEquals([...unused], []);
});

Deno.test("every JSR package has a stand-in with its name and a version in range", async () => {
  for (const specifier of Object.values(imports).filter((text) => text.startsWith("jsr:"))) {
    const [, name = "", range = ""] = specifier.match(/^jsr:(@[^@]+)@\^(.+)$/) ?? [];
    const directory = name.slice(1).replace("/", "_").replaceAll("-", "_");
    const standIn = JSON.parse(await read(`scripts/offline/${directory}/deno.json`));
    assertEquals(standIn.name, name);
    assert(isInRange(standIn.version, range), `${standIn.version} is not in ^${range}`);
  }
});

/** Returns `@std/testing` for `@std/testing/time`. */
function getPackageName(specifier: string): string {
  return specifier.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? specifier;
}

/** Whether a version is in the caret range of another from 1.0.0 on. */
function isInRange(version: string, least: string): boolean {
  const collator = new Intl.Collator("en", { numeric: true });
  return version.split(".")[0] === least.split(".")[0] && collator.compare(version, least) >= 0;
}
