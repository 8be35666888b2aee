/**
 * The root directory of a project.
 *
 * @module
 */

import { pathExists } from "../../src/platform/path_exists.ts";
import { dirname, join } from "../../src/platform/paths.ts";

/**
 * Finds the root of the project that a directory belongs to: the nearest directory, from this one upwards, with `.git` or
 * `.swink`. Without one it is the directory itself. The home directory is the root only of itself: what lies directly in
 * it belongs to no project. So is a directory in which every user can create files, such as `/tmp`: another user could make
 * it a project, and its hooks would run.
 *
 * @param directory Absolute path without links.
 * @param home Absolute path of the home directory, if there is one.
 */
export function findProjectRoot(directory: string, home?: string): string {
  for (let path = directory;; path = dirname(path)) {
    if (path === home || dirname(path) === path) return directory;
    const isRoot = pathExists(join(path, ".git")) || pathExists(join(path, ".swink"));
    if (isRoot && (path === directory || !isShared(path))) return path;
  }
}

/** Whether every user can create files in a directory, but not remove those of others. */
function isShared(directory: string): boolean {
  return ((Deno.statSync(directory).mode ?? 0) & SHARED) === SHARED;
}

/** The bits of the mode of a shared directory: sticky, and writable by all. */
const SHARED = 0o1002;

/** Returns a directory and those above it, the root first. `directory` is within the root. */
export function listDirectories(root: string, directory: string): string[] {
  const directories = [directory];
  for (let path = directory; path !== root && dirname(path) !== path;) {
    path = dirname(path);
    directories.unshift(path);
  }
  return directories;
}
