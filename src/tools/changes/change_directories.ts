/**
 * The directories that file changes make and leave empty.
 *
 * @module
 */

import { dirname } from "../../platform/paths.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { mapParallel } from "./map_parallel.ts";

/** Returns the missing parents of a path, the deepest first. */
export async function findMissingParents(files: SandboxFiles, path: string): Promise<string[]> {
  const missing: string[] = [];
  for (const parent of listParents(path)) {
    if (await files.getKind(parent) !== undefined) break;
    missing.push(parent);
  }
  return missing;
}

/** Lists the missing parents of files. A path that cannot be used has none. */
export async function listMissingParents(
  files: SandboxFiles,
  changes: readonly { readonly path: string }[],
): Promise<string[]> {
  const pathsByDirectory = new Map(changes.map(({ path }) => [dirname(path), path]));
  const missing = await mapParallel(
    [...pathsByDirectory.values()],
    (path) => findMissingParents(files, path).catch(() => []),
  );
  return [...new Set(missing.flat())];
}

/** Lists the parents of a path without the root, the deepest first. */
export function listParents(path: string): string[] {
  const parents: string[] = [];
  for (let parent = dirname(path); dirname(parent) !== parent; parent = dirname(parent)) {
    parents.push(parent);
  }
  return parents;
}

/** Removes the directories that are empty, the deepest first, and returns their paths. */
export async function removeDirectories(
  files: SandboxFiles,
  directories: readonly string[],
): Promise<string[]> {
  const removed: string[] = [];
  const unique = [...new Set(directories)].sort((a, b) => b.length - a.length);
  for (const directory of unique) {
    if (await files.removeDirectory?.(directory).catch(() => false)) removed.push(directory);
  }
  return removed;
}
