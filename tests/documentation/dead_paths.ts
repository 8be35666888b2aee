/**
 * Finds paths in pages and comments that do not exist.
 *
 * @module
 */

import { getComments } from "./comments.ts";
import type { TextFile } from "./project_paths.ts";

/** Top-level directories, earlier ones included. */
const TOP_LEVEL = /^(src|adapters|cli|docs|tests|scripts|tools|offline|examples|bench)\/[\w<*]/;

/** Names of user files. */
const USER_FILES = new Set(["SKILL.md", "AGENTS.md", "CLAUDE.md"]);

/**
 * Returns the paths in a page or in the comments of a source file that match no file or directory.
 *
 * A path may omit its first directories (`core/hooks/policy.ts`) and may have `*` or `<name>` instead of a name.
 */
export function findDeadPaths({ path, text }: TextFile, existing: readonly string[]): string[] {
  const prose = path.endsWith(".md")
    ? Array.from(removeCodeBlocks(text).matchAll(/`([^`\n]+)`/g), ([, code]) => code).join(" ")
    : getComments(text).map(removeCodeBlocks).join(" ");
  return prose.split(/[^\w./<>*-]+/)
    .map((token) => token.replace(/^(\.\.?\/)+|[./]+$/g, ""))
    .filter((token) => isProjectPath(token) && !exists(token, existing))
    .map((token) => `${path}: ${token}`);
}

function removeCodeBlocks(text: string): string {
  return text.replaceAll(/^[ *]*```[\s\S]*?^[ *]*```/gm, "");
}

function isProjectPath(token: string): boolean {
  if (USER_FILES.has(token)) return false;
  return TOP_LEVEL.test(token) || /^[\w<>*/-]+\.(ts|md)$/.test(token);
}

function exists(token: string, existing: readonly string[]): boolean {
  if (!/[*<]/.test(token)) return getEnds(existing).has(token);
  const source = token.replaceAll(".", "\\.").replaceAll("*", "[^/]*").replaceAll(
    /<\w+>/g,
    "[^/]+",
  );
  const pattern = new RegExp(`(^|/)${source}$`);
  return existing.some((path) => pattern.test(path));
}

const ends = new WeakMap<readonly string[], Set<string>>();

/** Returns the existing paths, also without their first directories. */
function getEnds(existing: readonly string[]): Set<string> {
  const known = ends.get(existing) ?? new Set(existing.flatMap(listEnds));
  ends.set(existing, known);
  return known;
}

function listEnds(path: string): string[] {
  const names = path.split("/");
  return names.map((_, index) => names.slice(index).join("/"));
}
