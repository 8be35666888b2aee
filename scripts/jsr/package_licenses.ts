/**
 * The licenses of the packages in the bundle of the program.
 *
 * @module
 */

/** Files of packages. */
export interface PackageFiles {
  /** Paths in the cache of Deno, relative to the directory, or URLs of the JSR registry. */
  readonly paths: readonly string[];
  /** Absolute path of the directory. */
  readonly directory: string;
}

/** A package in the bundle. */
interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly directory: URL;
}

/** Matches the path of a file up to the version of its package, with the name and the version. */
const PACKAGE = /^.+?\/((?:@[^/]+\/)?[^/@]+)[/@](\d+\.\d+\.\d[^/]*)\//;

/** Matches the name of a package in the path of a source, as a source map has it. */
const INLINED_PACKAGE = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** Matches the names of packages of the JSR registry, whose licenses are not in the cache: they all are MIT. */
const MIT_PACKAGE = /^@(std|cliffy)\//;

/**
 * Returns the licenses of the packages of some files, and of those packages that are in one of these files, as its source
 * map states.
 *
 * @throws {Error} If a license is missing.
 */
export async function readLicenses({ paths, directory }: PackageFiles): Promise<string> {
  const licenses = new Map<string, string>();
  for (const path of paths) {
    const [root = "", name, version] = PACKAGE.exec(path) ?? [];
    if (name === undefined || version === undefined) {
      throw new Error(`The bundle has a file of no package: ${path}`);
    }
    const base = new URL(`file://${directory}/`);
    const found = { name, version, directory: new URL(root, base) };
    const title = `${name} ${version}`;
    if (!licenses.has(title)) licenses.set(title, await readLicense(found));
    for (const inlined of await listInlined(new URL(path, base), found)) {
      licenses.set(`${inlined.name}, in ${title}`, await readLicense(inlined));
    }
  }
  return [...licenses].map(([title, text]) => `${title}\n\n${text}`).toSorted().join("\n");
}

/** Lists the packages in a file that was bundled before. They are dependencies of its package, so the cache has them. */
async function listInlined(file: URL, { name, version }: BundledPackage) {
  const sources = await readSources(file);
  const names = new Set(sources.flatMap((source) => INLINED_PACKAGE.exec(source)?.[1] ?? []));
  const registry = file.href.slice(0, file.href.lastIndexOf(`/${name}/${version}/`) + 1);
  return await Promise.all(
    [...names].map((inlined) => findCached(inlined, new URL(`${inlined}/`, registry))),
  );
}

/** Finds a package of a version that is not known: the license is the same in all of them. */
async function findCached(name: string, versions: URL): Promise<BundledPackage> {
  try {
    const entries = await Array.fromAsync(Deno.readDir(versions));
    const version = entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => name)
      .toSorted().at(-1);
    if (version !== undefined) {
      return { name, version, directory: new URL(`${version}/`, versions) };
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  throw new Error(`The package ${name} is in the bundle, and its license is not in the cache`);
}

async function readSources(file: URL): Promise<readonly string[]> {
  if (file.protocol !== "file:") return [];
  const map = await Deno.readTextFile(`${file.pathname}.map`).catch(() => "{}");
  const { sources = [] }: { sources?: readonly string[] } = JSON.parse(map);
  return sources;
}

async function readLicense({ name, directory }: BundledPackage): Promise<string> {
  if (directory.protocol !== "file:") {
    if (MIT_PACKAGE.test(name)) return await formatMitLicense(name);
    throw new Error(`The license of ${name} is not known: name the package in ${import.meta.url}`);
  }
  for await (const file of Deno.readDir(directory)) {
    if (/^licen[cs]e/i.test(file.name)) {
      return await Deno.readTextFile(new URL(file.name, directory));
    }
  }
  const text = await Deno.readTextFile(new URL("package.json", directory));
  const { license }: { license?: string } = JSON.parse(text);
  if (license === "MIT") return await formatMitLicense(name);
  throw new Error(`The package ${name} has the license ${license}, and no file with its text`);
}

/** Returns the MIT license, which is that of this project too, for another package. */
export async function formatMitLicense(name: string): Promise<string> {
  const own = await Deno.readTextFile(new URL("../../LICENSE", import.meta.url));
  const terms = own.slice(own.indexOf("Permission is hereby granted"));
  return `MIT License\n\nCopyright (c) the authors of ${name}\n\n${terms}`;
}
