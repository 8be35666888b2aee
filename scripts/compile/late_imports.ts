/**
 * Finds what the program imports by computed specifiers, which `deno compile` does not find by itself.
 *
 * @module
 */

const root = new URL("../../", import.meta.url);

/** Modules and packages to embed, sorted. */
export interface LateImports {
  /** Paths relative to the root of the project. */
  readonly modules: readonly string[];
  /** Specifiers, such as `npm:yaml@^2.9.1`. */
  readonly packages: readonly string[];
}

/** Modules that another program than the compiled one runs, with the reason. */
export const NOT_EMBEDDED: Readonly<Record<string, string>> = {
  "src/tools/confinement/confined_exec.ts": "the compiled program starts itself with an argument",
  "src/tools/process/worker_process_main.ts": "the compiled program starts itself with an argument",
  "src/tools/isolated/isolated_main.ts": "swink has no isolated tools, which need Deno in PATH",
};

/** Matches the path of a module that is imported late, or that a worker runs. */
const LATE_MODULE = /(?:\bnew URL\(|\bimportLate[^;]*?)\s*"(\.[^"]+\.ts)",\s*import\.meta\.url/g;

/** Matches an import, without those of types, which load nothing. */
const IMPORT = /^(?:import|export)\s(?!type\b)[^;"]*"(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gm;

/** Follows the imports of a module and of those that it imports late. */
export async function findLateImports(entry: string): Promise<LateImports> {
  const reached = new Set([entry]);
  const modules = new Set<string>();
  const packages = new Set<string>();
  const npmImports = await readNpmImports();
  for (const path of reached) {
    const source = await readCode(path);
    for (const specifier of findModules(source, LATE_MODULE)) {
      const module = resolve(specifier, path);
      if (!Object.hasOwn(NOT_EMBEDDED, module)) modules.add(module);
      reached.add(module);
    }
    for (const specifier of findModules(source, IMPORT)) {
      if (specifier.endsWith(".ts")) reached.add(resolve(specifier, path));
    }
    for (const name of findPackages(source, npmImports)) packages.add(name);
  }
  return { modules: [...modules].toSorted(), packages: [...packages].toSorted() };
}

/** Reads a file without the comments that may have examples. */
async function readCode(path: string): Promise<string> {
  return (await Deno.readTextFile(new URL(path, root))).replaceAll(/^ *\*.*$/gm, "");
}

function findModules(source: string, pattern: RegExp): string[] {
  return Array.from(source.matchAll(pattern), ([, first, second]) => first ?? second ?? "");
}

function resolve(specifier: string, from: string): string {
  return new URL(specifier, new URL(from, root)).href.slice(root.href.length);
}

/** Returns the packages whose names a module has that computes specifiers of packages, by itself or in core. */
function findPackages(source: string, npmImports: ReadonlyMap<string, string>): string[] {
  if (!/`npm:\$\{|\bimportNpmPackage\(/.test(source)) return [];
  return Array.from(npmImports).filter(([name]) =>
    source.includes(`"${name}"`) || new RegExp(`^\\s*${name}:`, "m").test(source)
  ).map(([, specifier]) => specifier);
}

async function readNpmImports(): Promise<Map<string, string>> {
  const text = await Deno.readTextFile(new URL("deno.json", root));
  const { imports }: { imports: Record<string, string> } = JSON.parse(text);
  return new Map(Object.entries(imports).filter(([, value]) => value.startsWith("npm:")));
}
