/**
 * The files that a snapshot of a work tree leaves out.
 *
 * @module
 */

import { getSystemErrorCode } from "../../platform/system_error.ts";
import { statIfExists } from "../files/file_stat.ts";
import type { OmittedFiles } from "./snapshot.ts";

/** Names of caches, whose changes are of no interest. */
export const CACHES = ["__pycache__", ".pytest_cache", ".mypy_cache", ".DS_Store"];

/** Whether a path is in a cache. */
export function isInCache(path: string): boolean {
  return path.split("/").some((name) => CACHES.includes(name));
}

/** Finds the entry that is a path or a directory above it. A directory changes when a name in it does. */
export function findEntry(path: string, entries: ReadonlySet<string>): string | undefined {
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
    if (entries.has(path.slice(0, end + 1))) return path.slice(0, end + 1);
  }
  return [path, `${path}/`].find((name) => entries.has(name));
}

/**
 * Finds the files and directories that the earlier one of two snapshots left out and that no longer exist.
 *
 * @param root Path of the work tree.
 */
export async function findGoneFiles(
  root: string,
  before: OmittedFiles,
  after: OmittedFiles,
): Promise<readonly string[]> {
  const current = new Set(listOmittedFiles(after));
  const gone: string[] = [];
  for (const path of listOmittedFiles(before)) {
    if (!current.has(path) && await isMissing(`${root}/${path}`)) gone.push(path);
  }
  return gone;
}

/**
 * Whether single files may be gone that a snapshot left out: a directory of ignored files changed, other than one of
 * packages, which can be installed again.
 *
 * @param changed The ignored files and directories that changed.
 */
export function mayLackFiles(changed: readonly string[]): boolean {
  const isPackages = (path: string) => /(?:^|\/)node_modules\/$/.test(path);
  return changed.some((path) => path.endsWith("/") && !isPackages(path));
}

/**
 * Replaces files that a snapshot left out with the directories of only such files, which end with `/`.
 *
 * @param others The other files.
 */
export function groupByDirectory(
  files: readonly string[],
  others: readonly string[],
): readonly string[] {
  const excluded = new Set(others);
  const directories = findDirectories(others);
  const grouped = files.filter((path) => !excluded.has(path))
    .map((path) => listDirectoriesAbove(path).find((parent) => !directories.has(parent)) ?? path);
  return [...new Set(grouped)];
}

/** Finds the directories above files; each ends with `/`. */
function findDirectories(files: readonly string[]): ReadonlySet<string> {
  const directories = new Set<string>();
  for (const path of files) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const directory = path.slice(0, end + 1);
      if (directories.has(directory)) break;
      directories.add(directory);
    }
  }
  return directories;
}

/** Lists the directories above a path, the highest first; each ends with `/`. */
function listDirectoriesAbove(path: string): string[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1));
}

/**
 * Lists the ignored files and directories in which files changed, which are gone, or which are at a new place: those in a
 * directory that was moved have not changed.
 */
export function listIgnoredChanges(
  before: OmittedFiles,
  after: OmittedFiles,
  { gone, changed }: { readonly gone: readonly string[]; readonly changed: readonly string[] },
): readonly string[] {
  const earlier = new Set(before.ignored);
  // git lists some files next to the directory above them.
  const current = new Set(after.ignored);
  const added = [...current].filter((path) => findEntry(path, earlier) === undefined)
    .flatMap((path) => findEntry(path, current) ?? []);
  const goneIgnored = gone.filter((path) => earlier.has(path));
  return [...new Set([...goneIgnored, ...changed, ...added])].sort();
}

function listOmittedFiles({ ignored, large, repositories }: OmittedFiles): readonly string[] {
  return [...ignored, ...large, ...repositories.map((path) => `${path}/`)];
}

/** Whether a file does not exist, or a directory, which ends with `/`: one may have taken the place of the other. */
async function isMissing(path: string): Promise<boolean> {
  try {
    const status = await statIfExists(path.replace(/\/$/, ""));
    return status?.isDirectory !== path.endsWith("/");
  } catch (error) {
    return getSystemErrorCode(error) === "ENOTDIR";
  }
}
