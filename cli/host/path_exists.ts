/**
 * Whether files exist.
 *
 * @module
 */

/** Whether there is anything at a path, also a link without a target. */
export function pathExists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
