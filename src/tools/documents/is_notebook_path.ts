/**
 * The paths of notebooks.
 *
 * @module
 */

/** Whether a path names a notebook. */
export function isNotebookPath(path: string): boolean {
  return path.toLowerCase().endsWith(".ipynb");
}
