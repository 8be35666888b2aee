/**
 * Selects the files that a rule applies to.
 *
 * @module
 */

/** Whether a file is shipped code in one of the directories, given as `src|cli`. Tests are not. */
export function isCodeIn(directories: string, filename: string): boolean {
  const path = filename.replaceAll("\\", "/");
  return new RegExp(`/(${directories})/`).test(path) && !/_test\.ts$|\/tests\//.test(path);
}
