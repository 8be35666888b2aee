import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { packageDirectory } from "../../scripts/npm/build.ts";
import { getSpecifiers } from "../../scripts/npm/specifiers.ts";
import { createDeadline } from "../deadline.ts";
import { findDeadLinks } from "../documentation/markdown_links.ts";
import { listPaths, readPages } from "../documentation/project_paths.ts";
import { readPublicModules } from "../project.ts";
import { buildPackageOnce } from "./shared_app.ts";

/** The `package.json` of the package. */
interface PackageJson {
  exports: Record<string, { types: string; default: string } | string>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
}

async function* walkFiles(directory: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    if (isDirectory) yield* walkFiles(new URL(`${name}/`, directory));
    else yield new URL(name, directory);
  }
}

Deno.test("npm package: exports every public module with types, and imports only its files and dependencies", async () => {
  await buildPackageOnce();
  const text = await Deno.readTextFile(new URL("package.json", packageDirectory));
  const { exports, dependencies, peerDependencies }: PackageJson = JSON.parse(text);
  assertEquals(Object.keys(exports), [
    ...Object.keys(await readPublicModules()),
    "./package.json",
  ]);

  const files = new Set<string>();
  const imports: [file: string, specifier: string][] = [];
  for await (const file of walkFiles(packageDirectory)) {
    files.add(file.href);
    if (!/\.(js|d\.ts)$/.test(file.pathname)) continue;
    const specifiers = getSpecifiers(await Deno.readTextFile(file));
    for (const specifier of specifiers) imports.push([file.href, specifier]);
  }
  const packages = Object.keys(dependencies);
  const isValid = ([file, specifier]: [string, string]): boolean =>
    specifier.startsWith(".")
      ? files.has(new URL(specifier, file).href)
      : specifier.startsWith("node:") || packages.some((name) => specifier.startsWith(name));
  assertEquals(imports.filter((entry) => !isValid(entry)), []);
  assertEquals(peerDependencies["node-llama-cpp"], "^3.21.1");
  const exported = Object.values(exports).flatMap((entry) =>
    typeof entry === "string" ? [entry] : [entry.types, entry.default]
  );
  assertEquals(exported.filter((path) => !files.has(new URL(path, packageDirectory).href)), []);
});

Deno.test("npm package: its pages have their pictures, and link only to its files and to tests", async () => {
  await buildPackageOnce();
  const paths = await listPaths(packageDirectory);
  const pages = await readPages(packageDirectory);
  const dead = pages.flatMap((page) => findDeadLinks(page, pages, paths));
  assertEquals(dead.filter((link) => !link.endsWith("_test.ts")), []);
});

Deno.test("npm package: webpack leaves imports of the library without a literal specifier to the runtime", async () => {
  await buildPackageOnce();
  const unmarked: string[] = [];
  for await (const file of walkFiles(packageDirectory)) {
    if (!/\/(?:src|adapters)\/.*\.js$/.test(file.pathname)) continue;
    const code = await Deno.readTextFile(file);
    const imports = code.match(/\bawait import\((?!["`]|\/\* webpackIgnore: true \*\/ ).*/g) ?? [];
    unmarked.push(...imports.map((text) => `${file}: ${text}`));
  }
  assertEquals(unmarked, []);
});

Deno.test("npm package: swink runs the demo, whose modules are loaded late, and shows its help", async () => {
  await buildPackageOnce();
  const state = await Deno.makeTempDir({ prefix: "swink_npm_" });
  const run = async (...args: string[]): Promise<string> => {
    const options = ["-A", "--quiet", "--no-lock", "--node-modules-dir=none"];
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", ...options, "bin/swink.js", ...args],
      cwd: packageDirectory,
      env: { XDG_CONFIG_HOME: state, XDG_STATE_HOME: state, NO_COLOR: "1" },
      stdin: "null",
      signal: createDeadline(),
    }).output();
    const [output = "", errors = ""] = [stdout, stderr].map((bytes) =>
      new TextDecoder().decode(bytes)
    );
    assert(success, output + errors);
    return output;
  };
  try {
    assertStringIncludes(await run("--help"), "Usage:");
    assertStringIncludes(await run("demo"), "All four tests pass now.");
  } finally {
    await Deno.remove(state, { recursive: true });
  }
});
