/**
 * Canonical paths: symbolic links are followed before `..` is applied, also on the part of a path that does not exist.
 *
 * @module
 */

import { dirname, getPathRoot, isAbsolute, join, splitPath } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";

/** Maximum number of links followed, as on Linux. */
const MAX_LINKS = 40;

/**
 * Resolves a path to its canonical form.
 *
 * The operating system resolves an existing path. For a missing one every link on the way is followed here, so that
 * a dangling link resolves to its target and not to itself.
 *
 * @param path Absolute, or relative to `from`.
 * @throws The error of the operating system, except "not found".
 */
export async function resolveCanonicalPath(path: string, from: string): Promise<string> {
  const absolute = isAbsolute(path) ? path : `${from}/${path}`;
  try {
    return await system.realPath(absolute);
  } catch (error) {
    if (getSystemErrorCode(error) !== "ENOENT") throw error;
    return await followLinks(absolute);
  }
}

async function followLinks(absolute: string): Promise<string> {
  const pending = splitPath(absolute).reverse();
  let current = getPathRoot(absolute);
  let links = 0;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === "..") {
      current = dirname(current);
      continue;
    }
    const next = join(current, name);
    const target = await readLinkTarget(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    if (++links > MAX_LINKS) {
      throw Object.assign(new Error(`Too many symbolic links in ${absolute}`), { code: "ELOOP" });
    }
    if (isAbsolute(target)) current = getPathRoot(target);
    pending.push(...splitPath(target).reverse());
  }
  return current;
}

/** Returns the target of a symbolic link; `undefined` for any other entry, and for a missing one. */
async function readLinkTarget(path: string): Promise<string | undefined> {
  try {
    const { isSymlink } = await system.lstat(path);
    return isSymlink ? await system.readLink(path) : undefined;
  } catch (error) {
    if (getSystemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
