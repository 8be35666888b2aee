/**
 * Bundles the modules of the program into few files, with the packages that it always needs.
 *
 * Deno takes 0.15 ms for each module, and the first request of a run needs nearly 400: bundled, it is sent in two thirds of
 * the time. Each module that is loaded late stays a file of its own.
 *
 * @module
 */

import { deferImports, toBundlerSource } from "./late_modules.ts";
import { readLicenses } from "./package_licenses.ts";

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
  const paths = new Set<string>();
  for await (const { name } of Deno.readDir(`${directory}/bundle`)) {
    const code = await Deno.readTextFile(`${directory}/bundle/${name}`);
    for (const path of listForeignFiles(code)) paths.add(path);
    bundle.set(name, removeForeignPaths(deferImports(code)));
  }
  return bundle.set(LICENSES, await readLicenses({ paths: [...paths], directory }));
}

/** Matches the comment before the code of a file outside the project, whose path is one of this machine. */
const FOREIGN_FILE = /^\/\/ (\.\.\/.+|\w+:.+)\n/gm;

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

async function writeFile(path: string, text: string): Promise<void> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, text);
}
