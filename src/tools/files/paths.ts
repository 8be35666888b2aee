/**
 * Parts of paths. Node's module of that kind does more, and takes 10 ms to load.
 *
 * @module
 */

const isWindows = Deno.build.os === "windows";

/** What stands between the parts of a path on this system. */
export const SEPARATOR: string = isWindows ? "\\" : "/";

/** Whether a path says where it starts. */
export function isAbsolute(path: string): boolean {
  return getPathRoot(path) !== "";
}

/** `/`, `C:\`, or empty for a relative path. */
export function getPathRoot(path: string): string {
  if (!isWindows) return path.startsWith("/") ? "/" : "";
  const match = /^(?:[a-zA-Z]:|[\\/]{2}[^\\/]+[\\/]+[^\\/]+)?[\\/]/.exec(path);
  return match ? match[0].replaceAll("/", "\\") : "";
}

/** The names that make up a path; `.` and what is empty do not count. */
export function splitPath(path: string): string[] {
  const below = path.slice(getPathRoot(path).length);
  return below.split(isWindows ? /[\\/]/ : "/").filter((name) => name !== "" && name !== ".");
}

/** The folder in which something lies; a root lies in itself. */
export function dirname(path: string): string {
  const names = splitPath(path);
  names.pop();
  return getPathRoot(path) + names.join(SEPARATOR) || ".";
}

/** The last name of a path. */
export function basename(path: string): string {
  return splitPath(path).at(-1) ?? "";
}

/** Paths one after the other; `.` and `..` between them are taken out. */
export function join(first: string, ...others: readonly string[]): string {
  const root = getPathRoot(first);
  const names: string[] = [];
  for (const name of [first, ...others].flatMap(splitPath)) {
    if (name !== "..") names.push(name);
    else if (names.length > 0 && names.at(-1) !== "..") names.pop();
    else if (root === "") names.push(name);
  }
  return root + names.join(SEPARATOR) || ".";
}

/** The way from a folder to a canonical path below it; `undefined` when it does not lie there. */
export function getRelativePath(folder: string, path: string): string | undefined {
  if (path === folder) return "";
  const start = folder.endsWith(SEPARATOR) ? folder : folder + SEPARATOR;
  return path.startsWith(start) ? path.slice(start.length) : undefined;
}
