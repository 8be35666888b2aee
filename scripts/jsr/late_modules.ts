/**
 * Rewrites the imports of modules that are loaded late, for the bundle of the program.
 *
 * A bundler follows literal specifiers only, while Deno loads modules with a literal specifier before it runs anything. So
 * the sources are rewritten to literal specifiers, and the bundle back to computed ones.
 *
 * @module
 */

/** Path of the bundle in the package. All of its files are in this directory. */
export const BUNDLE_DIRECTORY = "cli/bundle";

const LATE_IMPORT = /\bimportLate(?:<[^;]*?>)?\(\s*"(\.[^"]+)",\s*import\.meta\.url,?\s*\)/g;

/** Matches a URL relative to the module: that of a worker or of a helper. The path may end with an expression. */
const MODULE_URL = /\bnew URL\(\s*(["`])(\.[^"`$]*)([^"`]*)\1,\s*import\.meta\.url,?\s*\)/g;

const DEFINITION = "cli/host/import_late.ts";

/**
 * Rewrites a source file for the bundler: late imports have literal specifiers, and URLs of modules lead from the bundle to
 * the source files of the package, which workers and helpers run.
 *
 * @param path The path of the file, relative to the root of the project.
 * @throws {Error} If a module is imported late by a path that is no literal.
 */
export function toBundlerSource(path: string, source: string): string {
  const toRoot = "../".repeat(BUNDLE_DIRECTORY.split("/").length);
  const rewritten = source
    .replaceAll(LATE_IMPORT, 'import("$1")')
    .replaceAll(MODULE_URL, (_, quote: string, relative: string, rest: string) => {
      const target = new URL(relative, `file:///${path}`).pathname.slice(1);
      return `new URL(${quote}${toRoot}${target}${rest}${quote}, import.meta.url)`;
    });
  if (path !== DEFINITION && /\bimportLate\s*[(<]/.test(rewritten)) {
    throw new Error(`${path} imports a module late by a path that is no literal`);
  }
  return rewritten;
}

/** Rewrites a file of the bundle so that Deno loads the other files when they are imported, and not before. */
export function deferImports(code: string): string {
  return code.replaceAll(
    /\bimport\("(\.\/[^"]+\.js)"\)/g,
    'import(new URL("$1", import.meta.url).href)',
  );
}
