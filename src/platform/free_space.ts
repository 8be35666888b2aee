/**
 * The free space of a disk.
 *
 * @module
 */

import { findBuiltinModule } from "./builtin_modules.ts";
import { system } from "./system.ts";

/**
 * Returns the bytes that this user can write to the disk of a directory; `undefined` where the system or a permission does not
 * allow to read it.
 */
export function readFreeSpace(directory: string): number | undefined {
  try {
    if (!isAllowed()) return undefined;
    const status = findBuiltinModule("node:fs")?.statfsSync(directory);
    // Some file systems of a network do not know their size.
    return status && status.blocks > 0 ? status.bavail * status.bsize : undefined;
  } catch {
    return undefined;
  }
}

/** On Deno, a call without the permission would ask the user for it. */
function isAllowed(): boolean {
  const permission = system.permissions?.querySync({ name: "sys", kind: "statfs" });
  return permission === undefined || permission.state === "granted";
}
