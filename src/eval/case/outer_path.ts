/**
 * Paths that lead out of a directory.
 *
 * @module
 */

/** A path that is absolute or leads upwards, also with the separators of Windows. */
const OUTER_PATH = /^(?:[/\\]|[A-Za-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/;

/** Whether a path is absolute, or leads upwards. */
export function isOuterPath(path: string): boolean {
  return OUTER_PATH.test(path);
}
