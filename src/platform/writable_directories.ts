/**
 * The directories that commands of this process can write.
 *
 * @module
 */

import { getRelativePath } from "./paths.ts";

const directories = new Set<string>();

/**
 * Notes a directory that commands can write. It stays noted for the lifetime of the process, since what a command has left in
 * it stays too, and the commands of one agent may have made what the program starts for another one.
 *
 * @param path Canonical path.
 */
export function noteWritableDirectory(path: string): void {
  if (!isInWritableDirectory(path)) directories.add(path);
}

/** Whether a canonical path is one of the noted directories, or is in one of them. */
export function isInWritableDirectory(path: string): boolean {
  return [...directories].some((directory) => getRelativePath(directory, path) !== undefined);
}
