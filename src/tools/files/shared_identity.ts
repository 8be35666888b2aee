/**
 * The identity of files with several names.
 *
 * @module
 */

import { system } from "../../platform/system.ts";

/** Returns the identity of a file that has several names and some content; `undefined` for all others. */
export function getSharedIdentity(path: string): string | undefined {
  try {
    const { dev, ino, isFile, nlink, size } = system.lstatSync(path);
    return isFile && nlink !== 1 && size > 0 ? `${dev}:${ino}` : undefined;
  } catch {
    return undefined;
  }
}
