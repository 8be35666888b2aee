/**
 * Whether there is something at a path.
 *
 * @module
 */

import { system } from "./system.ts";

/** Whether there is a file, a directory or a link at a path, also a link that leads nowhere. */
export function pathExists(path: string): boolean {
  try {
    system.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
