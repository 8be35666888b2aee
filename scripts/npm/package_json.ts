/**
 * The `package.json` of the npm package.
 *
 * @module
 */

/** The fields of `deno.json` in use. */
export interface ProjectConfig {
  name: string;
  version: string;
  license: string;
  /** Public modules by subpath: `{ "./testing": "./src/testing/mod.ts" }`. */
  exports: Record<string, string>;
  /** Packages by name: `{ "ajv": "npm:ajv@^8.20.0" }`. */
  imports: Record<string, string>;
}

/** Earliest version of Node 20 with `process.getBuiltinModule()`. */
const NODE_RANGE = ">=20.16";

/** Returns the registry that a package comes from, by the specifier of an import. */
export function getRegistry(config: ProjectConfig, specifier: string): "jsr" | "npm" | "none" {
  const source = config.imports[getPackageName(specifier)];
  return source?.startsWith("jsr:") ? "jsr" : source?.startsWith("npm:") ? "npm" : "none";
}

/** Returns `@std/text` for `@std/text/levenshtein-distance`. */
export function getPackageName(specifier: string): string {
  return /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}

/** The packages that the sources use. */
export interface UsedPackages {
  /** The specifiers of all imports of packages. */
  readonly specifiers: Iterable<string>;
  /** The names of the packages that are loaded only if the program has installed them. */
  readonly optional: readonly string[];
}

/**
 * Returns the names of the packages that the sources name, such as in `{ name: "pg", range: "^8.0.0" }`, and do not
 * import by a literal specifier.
 */
export function listOptionalPackages(
  config: ProjectConfig,
  { sources, specifiers }: { sources: Iterable<string>; specifiers: Iterable<string> },
): string[] {
  const imported = new Set(Array.from(specifiers, getPackageName));
  const texts = Array.from(sources);
  return Object.keys(config.imports).filter((name) =>
    getRegistry(config, name) === "npm" && !imported.has(name) &&
    texts.some((text) => text.includes(`name: ${JSON.stringify(name)}`))
  );
}

/** Creates the `package.json`. */
export function createPackageJson(
  config: ProjectConfig,
  { specifiers, optional }: UsedPackages,
): string {
  const { name, version, license } = config;
  const packages = new Set(Array.from(specifiers, getPackageName));
  const dependencies = [...packages].sort().flatMap((name) => {
    const [, source = "", range] = /^npm:(.+)@(.+)$/.exec(config.imports[name] ?? "") ?? [];
    if (range === undefined) return [];
    // A package that is imported by another name than its own is an alias.
    return [[name, source === name ? range : `npm:${source}@${range}`]];
  });
  const exports = Object.entries(config.exports).map(([subpath, path]) => {
    const module = path.replace(/\.ts$/, "");
    return [subpath, { types: `${module}.d.ts`, default: `${module}.js` }];
  });
  const fields = {
    name,
    version,
    description: "Agents with tools, sessions and a sandbox, for every model provider",
    license,
    type: "module",
    engines: { node: NODE_RANGE },
    sideEffects: false,
    main: "./mod.js",
    types: "./mod.d.ts",
    exports: Object.fromEntries([...exports, ["./package.json", "./package.json"]]),
    bin: { swink: "./bin/swink.js" },
    dependencies: Object.fromEntries(dependencies),
    peerDependencies: Object.fromEntries(
      optional.map((name) => [name, getPeerRange(config, name)]),
    ),
    peerDependenciesMeta: Object.fromEntries(optional.map((name) => [name, { optional: true }])),
  };
  return JSON.stringify(fields, null, 2) + "\n";
}

/** A program may have installed a later minor version for other reasons. */
function getPeerRange(config: ProjectConfig, name: string): string {
  const [, version = "*"] = /@[~^]?([^@]+)$/.exec(config.imports[name] ?? "") ?? [];
  return `^${version}`;
}
