/**
 * Which files git leaves out: the rules of `.gitignore` and `.git/info/exclude`, after gitignore(5).
 *
 * @module
 */

import { globSource } from "./glob.ts";

/** The rules of one ignore file. */
export interface IgnoreRules {
  /** Folder of the file, relative to the root of the walk; empty, or with a `/` at its end. */
  readonly folder: string;
  /** For a file above the root: the way from its folder down to the root, with a `/` at its end. */
  readonly above?: string;
  /** The rules, last one first: the last that fits decides. */
  readonly rules: readonly IgnoreRule[];
}

/** One line of an ignore file. */
export interface IgnoreRule {
  /** Whether it takes back what earlier rules left out. */
  readonly negated: boolean;
  /** Whether it is about folders alone. */
  readonly foldersOnly: boolean;
  /** Fits the path below the folder, or the bare name for a pattern without `/`. */
  readonly fits: (path: string, name: string) => boolean;
}

/** Reads an ignore file; lines that make no sense fit nothing. */
export function parseIgnoreFile(text: string, folder: string): IgnoreRules {
  const rules = text.replace(/^\ufeff/, "").split(/\r?\n/).flatMap((line) => parseLine(line) ?? []);
  return { folder, rules: rules.reverse() };
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
    const { folder, above = "", rules } = levels[level] ?? NO_RULES;
    const below = above + path.slice(folder.length);
    for (const rule of rules) {
      if (rule.foldersOnly && !isFolder) continue;
      if (rule.fits(below, name)) return !rule.negated;
    }
  }
  return false;
}

const NO_RULES: IgnoreRules = { folder: "", rules: [] };

function parseLine(line: string): IgnoreRule | undefined {
  let pattern = line.replace(/(?<!\\)((?:\\\\)*)[ \t]+$/, "$1");
  if (pattern === "" || pattern.startsWith("#")) return undefined;
  const negated = pattern.startsWith("!");
  if (negated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  if (pattern === "" || pattern === "/") return undefined;
  const fits = pattern.includes("/") ? fitsPath(pattern.replace(/^\//, "")) : fitsName(pattern);
  return fits && { negated, foldersOnly, fits };
}

function fitsName(pattern: string): IgnoreRule["fits"] | undefined {
  if (!/[*?[\\]/.test(pattern)) return (_path, name) => name === pattern;
  const suffix = /^\*([^*?[\\]+)$/.exec(pattern)?.[1];
  if (suffix !== undefined) return (_path, name) => name.endsWith(suffix);
  const expression = compile(pattern);
  return expression && ((_path, name) => expression.test(name));
}

function fitsPath(pattern: string): IgnoreRule["fits"] | undefined {
  const expression = compile(pattern);
  return expression && ((path) => expression.test(path));
}

function compile(pattern: string): RegExp | undefined {
  try {
    return new RegExp(`^${globSource(pattern, { braces: false })}$`, "su");
  } catch {
    return undefined;
  }
}
