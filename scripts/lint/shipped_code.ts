/**
 * Which files a rule is for.
 *
 * @module
 */

/** Whether a file is shipped code in one of these folders of the project, its tests not counted. */
export function isShippedCode(folders: string, filename: string): boolean {
  const path = filename.replaceAll("\\", "/");
  return new RegExp(`/(${folders})/`).test(path) && !/_test\.ts$|\/tests\//.test(path);
}
