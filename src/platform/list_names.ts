/**
 * The names in a directory.
 *
 * @module
 */

import { system } from "./system.ts";

/** Returns the sorted names in a directory; none if it cannot be read. */
export function listNames(directory: string): string[] {
  try {
    return Array.from(system.readDirSync(directory), ({ name }) => name).sort();
  } catch {
    return [];
  }
}
