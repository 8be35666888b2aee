/**
 * The names of programs and files without their directories.
 *
 * @module
 */

/** Returns the part of a path after the last slash. */
export function getFileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
