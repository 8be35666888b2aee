/**
 * Builds the npm package of the library in `dist/npm`, with types, and packs it.
 *
 * Each module stays a module of its own, at the same path. `deno pack` is not used: it does not lower `using`, generates no
 * types for modules that are not public, and leaves imports of JSR's packages to a registry of its own. Here JSR's packages,
 * or the offline ones, are bundled into `vendor/`, so that the package and its dependencies come from npm alone.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { LLAMA_PACKAGE } from "../../src/local/llama/llama_runtime.ts";
import { buildOnce, walkFiles } from "../build_once.ts";
import { formatMitLicense } from "../jsr/package_licenses.ts";
import { choosePackages } from "../packages.ts";
import { compileDeclarations, compileModule } from "./compile.ts";
import {
  createPackageJson,
  getRegistry,
  listOptionalPackages,
  type ProjectConfig,
} from "./package_json.ts";
import { getSpecifiers, type RewriteSpecifier } from "./specifiers.ts";
import { bundlePackage } from "./vendor.ts";

/** Files and directories of the package; tests are left out. */
const SOURCES = ["mod.ts", "adapters", "cli", "src"];

/** Modules that build it, and the packages in `vendor` where the JSR registry cannot be reached. */
const SCRIPTS = [
  "scripts/npm",
  "scripts/jsr/package_licenses.ts",
  "scripts/llama_config.ts",
  "scripts/offline",
];

/** Files and directories that are copied: the pages with what they link to, which have to lead somewhere in the package too. */
const COPIED = [
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "cli/schemas",
  "docs",
  "examples",
];

const root = new URL("../../", import.meta.url);

/** Directory of the built package. */
export const packageDirectory: URL = new URL("dist/npm/", root);

/** Builds the package unless the last build has the same sources. */
export async function buildPackageIfChanged({ isForced = false } = {}): Promise<void> {
  const inputs = [...SOURCES, ...SCRIPTS, "deno.json", ...COPIED];
  const { set } = await choosePackages();
  await buildOnce("npm", { inputs, variant: set, build: buildPackage, isForced });
}

/** Builds the package; replaces an earlier build. */
async function buildPackage(): Promise<void> {
  const { config: configPath } = await choosePackages();
  const config: ProjectConfig = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const sources = await readSources();
  const specifiers = new Set([...sources.values()].flatMap(getSpecifiers).filter(isPackage));

  await Deno.remove(packageDirectory, { recursive: true }).catch(() => {});
  for (const [path, source] of sources) {
    const rewrite = createRewriter(config, path);
    await writeFile(toJavaScriptPath(path), compileSource(path, source, rewrite));
  }
  for (const specifier of specifiers) {
    if (getRegistry(config, specifier) !== "jsr") continue;
    await writeFile(getVendorPath(specifier), await bundlePackage(specifier, configPath));
  }
  await writeFile("vendor/LICENSE", await formatMitLicense("the packages in this directory"));
  await writeDeclarations(config, sources);
  await writeFile("bin/swink.js", await Deno.readTextFile(new URL("./swink.js", import.meta.url)));
  const all = addLlama(config);
  const optional = listOptionalPackages(all, { sources: sources.values(), specifiers });
  await writeFile("package.json", createPackageJson(all, { specifiers, optional }));
  for (const start of COPIED) {
    for await (const path of walkFiles(start)) await copyFile(path);
  }
}

/**
 * Packs the built package in a directory, and returns the path of the archive. Package managers install an archive with its
 * dependencies; a directory they link without them.
 */
export async function packPackage(directory: string): Promise<string> {
  const { name, version }: ProjectConfig = JSON.parse(
    await Deno.readTextFile(new URL("package.json", packageDirectory)),
  );
  const { success, stderr } = await new Deno.Command("npm", {
    args: ["pack", "--silent", "--pack-destination", directory],
    cwd: packageDirectory,
    stdin: "null",
    stdout: "null",
  }).output();
  if (!success) throw new Error(`Cannot pack the package: ${new TextDecoder().decode(stderr)}`);
  return `${directory}/${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
}

/** Adds llama.cpp, which the project does not import, because Deno would download it for every task. */
function addLlama(config: ProjectConfig): ProjectConfig {
  const { name, version } = LLAMA_PACKAGE;
  return { ...config, imports: { ...config.imports, [name]: `npm:${name}@^${version}` } };
}

/** Reads the modules of the package, and the text files that they import. */
async function readSources(): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  for (const start of SOURCES) {
    for await (const path of walkFiles(start)) {
      if (!/(?<!_test)\.ts$|\.txt$/.test(path)) continue;
      sources.set(path, await Deno.readTextFile(new URL(path, root)));
    }
  }
  return sources;
}

function compileSource(path: string, source: string, rewrite: RewriteSpecifier): string {
  if (path.endsWith(".ts")) return compileModule(path, source, rewrite);
  return `export default ${JSON.stringify(source)};\n`;
}

/** Writes the declarations of the public modules and of those that they refer to. */
async function writeDeclarations(
  config: ProjectConfig,
  sources: ReadonlyMap<string, string>,
): Promise<void> {
  const paths = new Set(Object.values(config.exports).map((path) => path.replace("./", "")));
  for (const path of paths) {
    const source = sources.get(path);
    if (source === undefined) throw new Error(`${path} is not a module of the package`);
    const declarations = compileDeclarations(path, source, createRewriter(config, path));
    await writeFile(path.replace(/\.ts$/, ".d.ts"), declarations);
    for (const specifier of getSpecifiers(declarations).filter(isRelative)) {
      paths.add(resolvePath(path, specifier).replace(/\.js$/, ".ts"));
    }
  }
}

/** Creates the function that converts the specifiers of a module to those of the package. */
function createRewriter(config: ProjectConfig, path: string): RewriteSpecifier {
  const toRoot = "../".repeat(path.split("/").length - 1) || "./";
  return (specifier) => {
    if (isRelative(specifier)) return toJavaScriptPath(specifier);
    const isBundled = getRegistry(config, specifier) === "jsr";
    return isBundled ? toRoot + getVendorPath(specifier) : specifier;
  };
}

/** Returns the path of a compiled module: `a.js` for `a.ts`, `a.txt.js` for `a.txt`. */
function toJavaScriptPath(path: string): string {
  return path.replace(/\.ts$/, ".js").replace(/\.txt$/, ".txt.js");
}

/** Returns `vendor/std_text_levenshtein_distance.js` for `@std/text/levenshtein-distance`. */
function getVendorPath(specifier: string): string {
  return `vendor/${specifier.replace("@", "").replaceAll(/[/-]/g, "_")}.js`;
}

function resolvePath(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith(".");
}

function isPackage(specifier: string): boolean {
  return !isRelative(specifier) && !specifier.startsWith("node:");
}

async function copyFile(path: string): Promise<void> {
  await Deno.copyFile(new URL(path, root), await prepareFile(path));
}

async function writeFile(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(await prepareFile(path), text);
}

/** Creates the directory of a file of the package, and returns the URL of the file. */
async function prepareFile(path: string): Promise<URL> {
  const file = new URL(path, packageDirectory);
  await Deno.mkdir(new URL(".", file), { recursive: true });
  return file;
}

if (import.meta.main) {
  await buildPackageIfChanged({ isForced: true });
  const archive = await packPackage(fileURLToPath(new URL("dist", root)));
  console.log(`Built dist/npm, and packed it. To use it in a project:\n  npm install "${archive}"`);
}
