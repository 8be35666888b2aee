/**
 * The directories that commands of this process can write.
 *
 * @module
 */

import { isMissing } from "./path_exists.ts";
import { dirname } from "./paths.ts";

/** Number of noted directories from which on those that are gone are forgotten: a server may make one for each request. */
const MIN_LIMIT = 1_000;

const directories = new Set<string>();
let limit = MIN_LIMIT;

/**
 * Notes a directory that commands can write. It stays noted as long as it exists, since what a command has left in it stays
 * too, and the commands of one agent may have made what the program starts for another one. A sandbox notes its own before
 * each command, since one that was gone may be there again.
 *
 * @param path Canonical path.
 */
export function noteWritableDirectory(path: string): void {
  if (isInWritableDirectory(path)) return;
  directories.add(path);
  if (directories.size < limit) return;
  for (const directory of directories) if (isMissing(directory)) directories.delete(directory);
  limit = Math.max(MIN_LIMIT, 2 * directories.size);
}

/** Whether a canonical path is one of the noted directories, or is in one of them. */
export function isInWritableDirectory(path: string): boolean {
  if (directories.has(path)) return true;
  const parent = dirname(path);
  return parent !== path && isInWritableDirectory(parent);
}
