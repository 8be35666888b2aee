import { assert, assertEquals } from "@std/assert";
import { YAML_PACKAGE } from "../src/eval/case/yaml_package.ts";
import { readImports, sourceFiles } from "./architecture/imports.ts";
import { root } from "./project.ts";

const { imports }: { imports: Record<string, string> } = JSON.parse(await read("deno.json"));

function read(path: string): Promise<string> {
  return Deno.readTextFile(new URL(path, root));
}

Deno.test("dependencies: docs/dependencies.md has one row for each package", async () => {
  const text = await read("docs/dependencies.md");
  const cells = Array.from(text.matchAll(/^\| (.+?) \|/gm), ([, cell = ""]) => cell);
  const names = cells.flatMap((cell) => cell.match(/(?<=`)(?:jsr|npm):[^`]+(?=`)/g) ?? []);
  const expected = Object.values(imports).map((specifier) => specifier.replace(/@[^@/]*$/, ""));
  assertEquals(names.toSorted(), expected.toSorted());
});

Deno.test("dependencies: each package is imported", async () => {
  const unused = new Set(Object.keys(imports));
  for (const directory of ["mod.ts", "src", "adapters", "cli", "tests", "scripts", "bench"]) {
    for await (const path of sourceFiles(directory)) {
      for (const specifier of readImports(path, await read(path)).external) {
        unused.delete(getPackageName(specifier));
      }
    }
  }
  assertEquals([...unused], []);
});

Deno.test("dependencies: each JSR package has an offline package with its name and a version in range", async () => {
  for (const specifier of Object.values(imports).filter((text) => text.startsWith("jsr:"))) {
    const [, name = "", range = ""] = specifier.match(/^jsr:(@[^@]+)@\^(.+)$/) ?? [];
    const directory = name.slice(1).replace("/", "_").replaceAll("-", "_");
    const offlinePackage = JSON.parse(await read(`scripts/offline/${directory}/deno.json`));
    const { version } = offlinePackage;
    assertEquals(offlinePackage.name, name);
    assert(isInRange(version, range), `${version} is not in ^${range}`);
  }
});

/** Returns `@std/testing` for `@std/testing/time`. */
function getPackageName(specifier: string): string {
  return specifier.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? specifier;
}

/** Whether a version is in the caret range of `minimum`, which is at least 1.0.0. */
function isInRange(version: string, minimum: string): boolean {
  const collator = new Intl.Collator("en", { numeric: true });
  return version.split(".")[0] === minimum.split(".")[0] && collator.compare(version, minimum) >= 0;
}

Deno.test("YAML_PACKAGE: has the version range of deno.json", () => {
  assertEquals(imports[YAML_PACKAGE.name], `npm:${YAML_PACKAGE.name}@${YAML_PACKAGE.range}`);
});
