/**
 * Patterns of paths, in rules and in the arguments of tools.
 *
 * @module
 */

import { compileGlob, compileGlobs, expandBraces } from "../../core/ignore/glob.ts";

/**
 * Removes differences between patterns with the same meaning; `/` at the end matches all that is in a directory. `..` stays
 * where it leads above the start, or out of a directory that the pattern does not name.
 */
export function normalizePattern(pattern: string): string {
  const trimmed = pattern.trim().replace(/\/+$/, "/**");
  if (trimmed === "") return "";
  const names: string[] = [];
  for (const name of trimmed.split("/")) {
    if (name === "" || name === ".") continue;
    const last = names.at(-1) ?? "..";
    if (name === ".." && last !== ".." && !/[*?[\]{}\\]/.test(last)) names.pop();
    else names.push(name);
  }
  const start = trimmed.startsWith("/") ? "/" : "";
  return start + names.join("/") || ".";
}

/** Folds a path as a file system does for which upper and lower case are the same. */
export function foldCase(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/**
 * Whether a pattern may match a path below a directory. Both are relative to the same directory, or both absolute.
 *
 * @throws {RangeError} When the pattern is not a valid glob.
 */
export function canMatchBelow(glob: string, directory: string): boolean {
  const names = directory.split("/").filter((name) => name !== "" && name !== ".");
  return expandBraces(glob).some((alternative) => {
    // A name matches in any directory. Classes and escapes may contain a separator.
    if (!alternative.includes("/") || /\\|\[[^\]]*\//.test(alternative)) return true;
    const segments = alternative.split("/").filter((segment) => segment !== "");
    for (const [index, name] of names.entries()) {
      const { [index]: segment } = segments;
      if (segment === "**") return true;
      if (segment === undefined || !matchesName(segment, name)) return false;
    }
    return segments.length > names.length;
  });
}

function matchesName(glob: string, name: string): boolean {
  return compileGlob(glob)(name) || compileGlob(foldCase(glob))(foldCase(name));
}

/** The path of an entry, in two forms. */
export interface PathForms {
  /** The path as rules compare it: relative to the working directory, if it is in it. */
  readonly displayed: string;
  /** The absolute path. */
  readonly canonical: string;
}

/** Maximum number of globs that patterns represent together. */
const MAX_ALTERNATIVES = 1_000;

/** Maximum number of directories whose result is kept. */
const MAX_KNOWN = 10_000;

/**
 * Compiles patterns to a function that returns whether one of them matches a path or a directory above it, in any case.
 *
 * @throws {RangeError} When a pattern is not a valid glob, or the braces of all have too many alternatives.
 */
export function compilePathPatterns(patterns: readonly string[]): (forms: PathForms) => boolean {
  const globs = patterns.map(normalizePattern).filter((glob) => glob !== "").flatMap(expandBraces);
  if (globs.length > MAX_ALTERNATIVES) {
    throw new RangeError(`the braces have too many alternatives (at most ${MAX_ALTERNATIVES})`);
  }
  const exact = compileForms(globs);
  const folded = compileForms(globs.map(foldCase));
  const known = new Map<string, boolean>();
  const matches = (path: string): boolean => {
    const end = path.lastIndexOf("/");
    return exact(path) || folded(foldCase(path)) ||
      (end > 0 && matchesDirectory(path.slice(0, end)));
  };
  const matchesDirectory = (path: string): boolean => {
    const result = known.get(path) ?? matches(path);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(path, result);
    return result;
  };
  return ({ displayed, canonical }) => matches(displayed) || matches(canonical);
}

function compileForms(globs: readonly string[]): (path: string) => boolean {
  const isAbsolute = (text: string): boolean => text.startsWith("/");
  const absolute = compileGlobs(globs.filter(isAbsolute));
  const relative = compileGlobs(globs.filter((glob) => !isAbsolute(glob)));
  return (path) => isAbsolute(path) ? absolute(path.slice(1)) : relative(path);
}
