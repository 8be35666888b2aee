/**
 * Compiles tests for other runtimes: they import the built npm package, and use the port in `deno_shim.ts` as `Deno`.
 *
 * @module
 */

import { walkFiles } from "../../scripts/build_once.ts";
import { compileModule } from "../../scripts/npm/compile.ts";
import { getRegistry, type ProjectConfig } from "../../scripts/npm/package_json.ts";
import { getSpecifiers } from "../../scripts/npm/specifiers.ts";
import { bundlePackage } from "../../scripts/npm/vendor.ts";
import { choosePackages } from "../../scripts/packages.ts";
import { sourceFiles } from "../architecture/imports.ts";
import { root } from "../project.ts";

const SHIM = "tests/runtimes/deno_shim.ts";

/** Matches the modules that are in the package. */
const SHIPPED_PATTERN = /^(mod\.ts$|(src|adapters|cli)\/.*(?<!_test)\.ts$)/;

/** Compiles test modules, with the test modules that they import, into a directory that has the package installed. */
export async function compileTests(paths: readonly string[], directory: string): Promise<void> {
  const { config: configPath } = await choosePackages();
  const config: ProjectConfig = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const modules = new Set([...paths, SHIM, ...await listSyncFixtures()]);
  const bundled = new Set<string>();
  for (const path of modules) {
    const source = await Deno.readTextFile(new URL(path, root));
    for (const specifier of getSpecifiers(source)) {
      const target = resolvePath(path, specifier);
      if (!specifier.startsWith(".")) bundled.add(specifier);
      else if (!SHIPPED_PATTERN.test(target)) modules.add(target);
    }
    const code = compileModule(path, addShim(path, source), (specifier) => {
      const target = specifier.startsWith(".")
        ? toTestPath(resolvePath(path, specifier))
        : getRegistry(config, specifier) === "jsr"
        ? getBundlePath(specifier)
        : undefined;
      return target === undefined ? specifier : getRelativePath(toTestPath(path), target);
    });
    await writeFile(`${directory}/${toTestPath(path)}`, code);
  }
  for await (const path of walkFiles("tests")) {
    if (!path.endsWith(".ts")) await copyFile(path, directory);
  }
  for (const specifier of bundled) {
    if (getRegistry(config, specifier) !== "jsr") continue;
    const code = await bundlePackage(specifier, configPath);
    await writeFile(`${directory}/${getBundlePath(specifier)}`, code);
  }
}

/** Lists the agents of synchronous runs, which tests load by a computed URL. */
async function listSyncFixtures(): Promise<string[]> {
  return await Array.fromAsync(sourceFiles("tests/fixtures/sync"));
}

/** Imports the shim into a module that uses `Deno`. */
function addShim(path: string, source: string): string {
  if (path === SHIM || !/\bDeno\./.test(source)) return source;
  return `import { Deno } from ${JSON.stringify(getRelativePath(path, SHIM))};\n${source}`;
}

/** Returns the path of a compiled module: in the package, or among the tests. */
function toTestPath(path: string): string {
  const directory = SHIPPED_PATTERN.test(path) ? "node_modules/@swink/agent/" : "";
  return directory + path.replace(/\.ts$/, ".js");
}

function getBundlePath(specifier: string): string {
  return `vendor/${specifier.replace("@", "").replaceAll("/", "_")}.js`;
}

function resolvePath(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

function getRelativePath(from: string, target: string): string {
  return "./" + "../".repeat(from.split("/").length - 1) + target;
}

async function copyFile(path: string, directory: string): Promise<void> {
  const target = `${directory}/${path}`;
  await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
  await Deno.copyFile(new URL(path, root), target);
}

async function writeFile(path: string, text: string): Promise<void> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, text);
}
