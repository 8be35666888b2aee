/**
 * Bundles the modules of the program into few files, with the packages that it always needs.
 *
 * Deno takes 0.15 ms for each module, and the first request of a run needs nearly 400: bundled, it is sent in two thirds of
 * the time. Each module that is loaded late stays a file of its own.
 *
 * @module
 */

import { deferImports, toBundlerSource } from "./late_modules.ts";

/** A project to bundle. */
export interface ProgramSources {
  /** Source files by their paths, relative to the root of the project. */
  readonly files: ReadonlyMap<string, string>;
  /** Path of the configuration with the package set, relative to the root of the project. */
  readonly config: string;
}

/** Path of the file in which the licenses of the bundled packages are. */
const LICENSES = "LICENSES.txt";

/** Bundles `cli/program.ts`. Returns the files of the bundle by their names. */
export async function bundleProgram(
  { files, config }: ProgramSources,
): Promise<Map<string, string>> {
  const directory = await Deno.makeTempDir({ prefix: "swink_bundle_" });
  try {
    for (const [path, source] of files) {
      const isModule = path.endsWith(".ts") && /^(cli|src|adapters)\//.test(path);
      await writeFile(`${directory}/${path}`, isModule ? toBundlerSource(path, source) : source);
    }
    await runBundler(directory, config);
    return await readBundle(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function runBundler(directory: string, config: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--config", config, "--platform", "deno"],
      ...["--code-splitting", "--outdir", "bundle", "cli/program.ts"],
    ],
    cwd: directory,
    stdout: "null",
  }).output();
  if (!success) {
    throw new Error(`Cannot bundle the program: ${new TextDecoder().decode(stderr)}`);
  }
}

async function readBundle(directory: string): Promise<Map<string, string>> {
  const bundle = new Map<string, string>();
  const packages = new Set<string>();
  for await (const { name } of Deno.readDir(`${directory}/bundle`)) {
    const code = await Deno.readTextFile(`${directory}/bundle/${name}`);
    for (const path of listForeignFiles(code)) packages.add(path.replace(IN_PACKAGE, "$1"));
    bundle.set(name, removeForeignPaths(deferImports(code)));
  }
  const licenses = await Promise.all(
    [...packages].toSorted().map((path) => readLicense(path, directory)),
  );
  return bundle.set(LICENSES, licenses.join("\n"));
}

/** Matches the comment before the code of a file outside the project, whose path is one of this machine. */
const FOREIGN_FILE = /^\/\/ (\.\.\/.+|\w+:.+)\n/gm;

/** Matches the path of a file up to the version of its package, and the path in the package. */
const IN_PACKAGE = /^(.+?\/(?:@[^/]+\/)?[^/@]+[/@]\d+\.\d+\.\d[^/]*)\/.*$/;

function listForeignFiles(code: string): string[] {
  return [...code.matchAll(FOREIGN_FILE)].map(([, path = ""]) => path);
}

/** Matches the name that the bundler gives a CommonJS module: its path, up to that in the cache of packages. */
const FOREIGN_MODULE = /^(\s*)"\.\.\/[^"]*?\/npm\/[^"/]+\/([^"]+)"\(/gm;

/** Matches the line of a comment in a package that names a type of another file, which is not in the bundle. */
const FOREIGN_TYPE = /^ *\* @\w+ \{.*\bimport\(.*\n/gm;

function removeForeignPaths(code: string): string {
  return code.replaceAll(FOREIGN_FILE, "").replaceAll(FOREIGN_MODULE, '$1"$2"(')
    .replaceAll(FOREIGN_TYPE, "");
}

/** Returns the name, the version and the license of a package in the cache of Deno. */
async function readLicense(path: string, directory: string): Promise<string> {
  const [, name, version] = /((?:@[^/]+\/)?[^/@]+)[/@](\d[^/]*)$/.exec(path) ?? [];
  if (name === undefined) throw new Error(`The bundle has a file of no package: ${path}`);
  const text = await findLicense(new URL(`${path}/`, `file://${directory}/`));
  return `${name} ${version}\n\n${text ?? "The MIT License of its authors.\n"}`;
}

async function findLicense(packageDirectory: URL): Promise<string | undefined> {
  if (packageDirectory.protocol !== "file:") return undefined;
  for await (const { name } of Deno.readDir(packageDirectory)) {
    if (/^licen[cs]e/i.test(name)) return await Deno.readTextFile(new URL(name, packageDirectory));
  }
  const text = await Deno.readTextFile(new URL("package.json", packageDirectory));
  const { name, license }: { name: string; license?: string } = JSON.parse(text);
  if (license === "MIT") return undefined;
  throw new Error(`The package ${name} has the license ${license}, and no file with its text`);
}

async function writeFile(path: string, text: string): Promise<void> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, text);
}
