/**
 * File functions of `node:fs`, which take open flags and return descriptors. Imported on first use, since that takes
 * 30 ms.
 *
 * @module
 */

let cachedModules: Promise<NodeFs> | undefined;

/** The functions of `node:fs` in use. */
export interface NodeFs {
  /** Opens a file with numeric flags. */
  readonly open: typeof import("node:fs/promises").open;
  /** Synchronous functions and constants. */
  readonly sync: typeof import("node:fs");
}

/** Imports the functions on the first call. */
export function loadNodeFs(): Promise<NodeFs> {
  cachedModules ??= Promise.all([import("node:fs/promises"), import("node:fs")])
    .then(([{ open }, sync]) => ({ open, sync }));
  return cachedModules;
}
