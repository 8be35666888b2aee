/**
 * Selects the files that a rule is for.
 *
 * @module
 */

/** Whether a file is shipped code, no test, in one of the directories, as `src|cli`. */
export function isCodeIn(directories: string, filename: string): boolean {
  const path = filename.replaceAll("\\", "/");
  return new RegExp(`/(${directories})/`).test(path) && !/_test\.ts$|\/tests\//.test(path);
}
