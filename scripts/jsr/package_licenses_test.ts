import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { readLicenses } from "./package_licenses.ts";

/** Creates a directory with files of the npm cache in `npm`, and reads the licenses of some of them. */
async function readTestLicenses(
  paths: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "swink_licenses_" });
  try {
    for (const [path, text] of Object.entries(files)) {
      const file = `${directory}/npm/${path}`;
      await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(file, text);
    }
    await Deno.mkdir(`${directory}/project`);
    return await readLicenses({ paths, directory: `${directory}/project` });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("readLicenses(): has each package once, with its version and its license", async () => {
  const text = await readTestLicenses(
    ["../npm/b/1.2.3/x.js", "../npm/b/1.2.3/lib/y.js", "../npm/@a/c/0.1.0-rc.1/z.js"],
    { "b/1.2.3/LICENSE.txt": "License of b\n", "@a/c/0.1.0-rc.1/licence": "License of c\n" },
  );
  assertEquals(text, "@a/c 0.1.0-rc.1\n\nLicense of c\n\nb 1.2.3\n\nLicense of b\n");
});

Deno.test("readLicenses(): has the packages in a file that was bundled before", async () => {
  const sources = [
    "../../src/main.ts",
    "../../node_modules/inner/index.js",
    "../../node_modules/outer/node_modules/@a/inner/index.js",
  ];
  const text = await readTestLicenses(["../npm/outer/2.0.0/dist/outer.js"], {
    "outer/2.0.0/LICENSE": "License of outer\n",
    "outer/2.0.0/dist/outer.js.map": JSON.stringify({ sources }),
    "inner/1.0.0/LICENSE": "License of inner\n",
    "inner/registry.json": "{}",
    "@a/inner/3.0.0/LICENSE": "License of @a/inner\n",
  });
  assertStringIncludes(text, "inner, in outer 2.0.0\n\nLicense of inner\n");
  assertStringIncludes(text, "@a/inner, in outer 2.0.0\n\nLicense of @a/inner\n");
  assertStringIncludes(text, "outer 2.0.0\n\nLicense of outer\n");
});

Deno.test("readLicenses(): rejects if a package in a file that was bundled before is not in the cache", async () => {
  const map = JSON.stringify({ sources: ["../node_modules/inner/index.js"] });
  const files = { "outer/2.0.0/LICENSE": "License", "outer/2.0.0/outer.js.map": map };
  await assertRejects(
    () => readTestLicenses(["../npm/outer/2.0.0/outer.js"], files),
    Error,
    "The package inner is in the bundle",
  );
});

Deno.test("readLicenses(): writes the MIT license of a package without a file, and rejects others", async () => {
  const paths = ["../npm/b/1.0.0/x.js"];
  const withLicense = (license: string) => ({
    "b/1.0.0/package.json": JSON.stringify({ name: "b", license }),
  });
  const text = await readTestLicenses(paths, withLicense("MIT"));
  assertStringIncludes(text, "Copyright (c) the authors of b\n\nPermission is hereby granted");
  await assertRejects(
    () => readTestLicenses(paths, withLicense("ISC")),
    Error,
    "The package b has the license ISC, and no file with its text",
  );
});

Deno.test("readLicenses(): knows the license of packages of the JSR registry, and rejects others", async () => {
  const text = await readTestLicenses(["https://jsr.io/@std/text/1.0.19/mod.ts"]);
  assertStringIncludes(text, "@std/text 1.0.19\n\nMIT License\n");
  await assertRejects(
    () => readTestLicenses(["https://jsr.io/@other/text/1.0.19/mod.ts"]),
    Error,
    "The license of @other/text is not known",
  );
  await assertRejects(() => readTestLicenses(["../src/a.ts"]), Error, "a file of no package");
});
