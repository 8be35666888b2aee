/**
 * Whether there is something at a path.
 *
 * @module
 */

import { system } from "./system.ts";
import { getSystemErrorCode } from "./system_error.ts";

/** Whether there is a file, a directory or a link at a path, also a link that leads nowhere. */
export function pathExists(path: string): boolean {
  try {
    system.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Whether nothing is at a path; `false` if that is not known, as in a directory that cannot be read. */
export function isMissing(path: string): boolean {
  try {
    system.lstatSync(path);
    return false;
  } catch (error) {
    return getSystemErrorCode(error) === "ENOENT";
  }
}
