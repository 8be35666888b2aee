/**
 * Which files git leaves out: the rules of `.gitignore` and `.git/info/exclude`, after gitignore(5).
 *
 * @module
 */

import { toGlobSource } from "./glob.ts";

/** The rules of one ignore file. */
export interface IgnoreRules {
  /** Folder of the file, relative to the root of the walk; empty, or with a `/` at its end. */
  readonly directory: string;
  /** For a file above the root: the way from its folder down to the root, with a `/` at its end. */
  readonly pathPrefix?: string;
  /** The rules, last one first: the last that fits decides. */
  readonly rules: readonly IgnoreRule[];
}

/** One line of an ignore file. */
export interface IgnoreRule {
  /** Whether it takes back what earlier rules left out. */
  readonly negated: boolean;
  /** Whether it is about folders alone. */
  readonly directoriesOnly: boolean;
  /** Fits the path below the folder, or the bare name for a pattern without `/`. */
  readonly matches: (path: string, name: string) => boolean;
}

/** Reads an ignore file; lines that make no sense fit nothing. */
export function parseIgnoreFile(text: string, folder: string): IgnoreRules {
  const rules = text.replace(/^\ufeff/, "").split(/\r?\n/).flatMap((line) => parseLine(line) ?? []);
  return { directory: folder, rules: rules.reverse() };
}

/**
 * Tells whether the rules leave a path out. Files deeper in the tree come last and win.
 *
 * @param path Relative to the root of the walk, without a `/` at its end.
 */
export function isIgnored(
  path: string,
  isFolder: boolean,
  levels: readonly IgnoreRules[],
): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  for (let level = levels.length - 1; level >= 0; level--) {
    const { directory: folder, pathPrefix: above = "", rules } = levels[level] ?? NO_RULES;
    const below = above + path.slice(folder.length);
    for (const rule of rules) {
      if (rule.directoriesOnly && !isFolder) continue;
      if (rule.matches(below, name)) return !rule.negated;
    }
  }
  return false;
}

const NO_RULES: IgnoreRules = { directory: "", rules: [] };

function parseLine(line: string): IgnoreRule | undefined {
  let pattern = line.replace(/(?<!\\)((?:\\\\)*)[ \t]+$/, "$1");
  if (pattern === "" || pattern.startsWith("#")) return undefined;
  const negated = pattern.startsWith("!");
  if (negated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  if (pattern === "" || pattern === "/") return undefined;
  const fits = pattern.includes("/")
    ? createPathMatcher(pattern.replace(/^\//, ""))
    : createNameMatcher(pattern);
  return fits && { negated, directoriesOnly: foldersOnly, matches: fits };
}

function createNameMatcher(pattern: string): IgnoreRule["matches"] | undefined {
  if (!/[*?[\\]/.test(pattern)) return (_path, name) => name === pattern;
  const suffix = /^\*([^*?[\\]+)$/.exec(pattern)?.[1];
  if (suffix !== undefined) return (_path, name) => name.endsWith(suffix);
  const expression = compilePattern(pattern);
  return expression && ((_path, name) => expression.test(name));
}

function createPathMatcher(pattern: string): IgnoreRule["matches"] | undefined {
  const expression = compilePattern(pattern);
  return expression && ((path) => expression.test(path));
}

function compilePattern(pattern: string): RegExp | undefined {
  try {
    return new RegExp(`^${toGlobSource(pattern, { braces: false })}$`, "su");
  } catch {
    return undefined;
  }
}
