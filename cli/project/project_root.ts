/**
 * The root directory of a project.
 *
 * @module
 */

import { dirname, join } from "../../src/platform/paths.ts";
import { pathExists } from "../host/path_exists.ts";

/**
 * Finds the root of the project that a directory belongs to: the nearest directory, from this one upwards, with `.git` or
 * `.swink`. Without one it is the directory itself. The home directory is the root only of itself: what lies directly in
 * it belongs to no project.
 *
 * @param directory Absolute path without links.
 * @param home Absolute path of the home directory, if there is one.
 */
export function findProjectRoot(directory: string, home?: string): string {
  for (let path = directory;; path = dirname(path)) {
    if (path === home || dirname(path) === path) return directory;
    if (pathExists(join(path, ".git")) || pathExists(join(path, ".swink"))) return path;
  }
}

/** Returns a directory and those above it, the root first. `directory` is within the root. */
export function listDirectories(root: string, directory: string): string[] {
  const directories = [directory];
  for (let path = directory; path !== root && dirname(path) !== path;) {
    path = dirname(path);
    directories.unshift(path);
  }
  return directories;
}
