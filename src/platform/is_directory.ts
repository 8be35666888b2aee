/**
 * Whether a path is that of a directory.
 *
 * @module
 */

import { system } from "./system.ts";

/** Whether there is a directory at a path, also behind a link. */
export function isDirectory(path: string): boolean {
  try {
    return system.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
