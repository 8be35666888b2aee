/**
 * Node's file functions: they take flags and give descriptors, which Deno's own do not. Loaded when they are first
 * needed, since that takes 30 ms.
 *
 * @module
 */

let cachedModules: Promise<NodeFs> | undefined;

/** What is used of Node's file functions. */
export interface NodeFs {
  /** Opens a file; flags are numbers. */
  readonly open: typeof import("node:fs/promises").open;
  /** The synchronous functions and the numbers of the flags. */
  readonly sync: typeof import("node:fs");
}

/** Loads Node's file functions, once. */
export function loadNodeFs(): Promise<NodeFs> {
  cachedModules ??= Promise.all([import("node:fs/promises"), import("node:fs")])
    .then(([{ open }, sync]) => ({ open, sync }));
  return cachedModules;
}
