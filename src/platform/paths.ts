/**
 * Path functions, used instead of `node:path`, whose import takes 10 ms.
 *
 * @module
 */

import { system } from "./system.ts";

const isWindows = system.build.os === "windows";

/** The separator of the operating system. */
export const SEPARATOR: string = isWindows ? "\\" : "/";

/**
 * Whether a path is exact. The runtime replaces bytes that are not UTF-8, and lone surrogates, by U+FFFD, so that a path with
 * one of these may be the one of another file.
 */
export function isExactPath(path: string): boolean {
  return !path.toWellFormed().includes("\ufffd");
}

/** Whether a path is absolute. */
export function isAbsolute(path: string): boolean {
  return getPathRoot(path) !== "";
}

/** Returns the root of a path: `/`, `C:\`, or an empty string for a relative path. */
export function getPathRoot(path: string): string {
  if (!isWindows) return path.startsWith("/") ? "/" : "";
  const match = /^(?:[a-zA-Z]:|[\\/]{2}[^\\/]+[\\/]+[^\\/]+)?[\\/]/.exec(path);
  return match ? match[0].replaceAll("/", "\\") : "";
}

/** Splits a path into its names, without `.` and empty ones. */
export function splitPath(path: string): string[] {
  const relative = path.slice(getPathRoot(path).length);
  return relative.split(isWindows ? /[\\/]/ : "/").filter((name) => name !== "" && name !== ".");
}

/** Returns the parent directory; a root is its own parent. */
export function dirname(path: string): string {
  const names = splitPath(path);
  names.pop();
  return getPathRoot(path) + names.join(SEPARATOR) || ".";
}

/** Returns the last name of a path; empty for a root. */
export function basename(path: string): string {
  return splitPath(path).at(-1) ?? "";
}

/** Joins paths and resolves `.` and `..`, without following links. */
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

/** Returns a canonical path relative to a directory; `undefined` when it is not inside. */
export function getRelativePath(directory: string, path: string): string | undefined {
  if (path === directory) return "";
  const start = directory.endsWith(SEPARATOR) ? directory : directory + SEPARATOR;
  return path.startsWith(start) ? path.slice(start.length) : undefined;
}

/** Converts a `file:` URL to a path. */
export function fromFileUrl({ pathname }: URL): string {
  const path = decodeURIComponent(pathname);
  return isWindows ? path.slice(1).replaceAll("/", "\\") : path;
}

/** Characters of a path that a URL would remove or read as another one; a backslash is a slash, as on Windows only. */
const ESCAPED = isWindows ? /[%\t\n\r]/g : /[%\\\t\n\r]/g;

/** Converts an absolute path to a `file:` URL. */
export function toFileUrl(path: string): URL {
  const url = new URL("file:///");
  url.pathname = path.replace(ESCAPED, encodeURIComponent);
  return url;
}
