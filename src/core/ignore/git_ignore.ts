/**
 * Matches paths against the rules of `.gitignore` and `.git/info/exclude`, as described in gitignore(5).
 *
 * @module
 */

import { toGlobSource } from "./glob.ts";

/** The rules of one ignore file. */
export interface IgnoreRules {
  /** Directory of the file, relative to the root of the walk; empty, or with a trailing `/`. */
  readonly directory: string;
  /** For a file above the root: the path from its directory to the root, with a trailing `/`. */
  readonly pathPrefix?: string;
  /** The rules in reverse order: the last matching line of the file decides. */
  readonly rules: readonly IgnoreRule[];
}

/** One line of an ignore file. */
export interface IgnoreRule {
  /** Whether a match includes a path that earlier rules ignored. */
  readonly negated: boolean;
  /** Whether the rule applies to directories only. */
  readonly directoriesOnly: boolean;
  /** Matches the path relative to the directory, or the name alone if the pattern has no `/`. */
  readonly matches: (path: string, name: string) => boolean;
}

/** Parses an ignore file; invalid lines match nothing. `directory` is empty or ends with `/`. */
export function parseIgnoreFile(text: string, directory: string): IgnoreRules {
  const rules = text.replace(/^\ufeff/, "").split(/\r?\n|\r$/).flatMap((line) =>
    parseLine(line) ?? []
  );
  return { directory, rules: rules.reverse() };
}

/**
 * Whether the rules ignore a path. The levels are ordered from the root down; deeper ones take precedence.
 *
 * @param path Relative to the root of the walk, without a trailing `/`.
 */
export function isIgnored(
  path: string,
  isDirectory: boolean,
  levels: readonly IgnoreRules[],
): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  for (const { directory, pathPrefix = "", rules } of levels.toReversed()) {
    const relativePath = pathPrefix + path.slice(directory.length);
    for (const rule of rules) {
      if (rule.directoriesOnly && !isDirectory) continue;
      if (rule.matches(relativePath, name)) return !rule.negated;
    }
  }
  return false;
}

function parseLine(line: string): IgnoreRule | undefined {
  let pattern = trimUnescapedSpaces(line);
  if (pattern === "" || pattern.startsWith("#")) return undefined;
  const negated = pattern.startsWith("!");
  if (negated) pattern = pattern.slice(1);
  const directoriesOnly = pattern.endsWith("/");
  if (directoriesOnly) pattern = pattern.slice(0, -1);
  const matches = pattern.includes("/")
    ? createPathMatcher(pattern.replace(/^\//, ""))
    : createNameMatcher(pattern);
  return matches && { negated, directoriesOnly, matches };
}

/** Removes the spaces at the end, and keeps one after a backslash that is not escaped itself. */
function trimUnescapedSpaces(line: string): string {
  const trimmed = line.replace(/(?<! ) +$/, "");
  const backslashes = /(?<!\\)\\*$/.exec(trimmed)?.[0].length ?? 0;
  return backslashes % 2 === 0 ? trimmed : line.slice(0, trimmed.length + 1);
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
    return new RegExp(`^${toGlobSource(pattern)}$`, "su");
  } catch {
    return undefined;
  }
}
