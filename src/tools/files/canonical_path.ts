/**
 * Where a path really leads: symbolic links followed, `..` taken where it stands, also for what does not exist yet.
 *
 * @module
 */

import { dirname, getPathRoot, isAbsolute, join, splitPath } from "./paths.ts";

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/**
 * The canonical form of a path.
 *
 * What exists is resolved by the operating system. Of what does not exist, every link on the way is followed
 * by hand, so that a dangling link is seen to lead where it leads.
 *
 * @param path Absolute, or relative to `from`.
 * @throws Whatever the operating system says but "not found".
 */
export async function resolveCanonicalPath(path: string, from: string): Promise<string> {
  const absolute = isAbsolute(path) ? path : `${from}/${path}`;
  try {
    return await Deno.realPath(absolute);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
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
    if (++links > MAX_LINKS) throw new Deno.errors.FilesystemLoop(`Too many links: ${absolute}`);
    if (isAbsolute(target)) current = getPathRoot(target);
    pending.push(...splitPath(target).reverse());
  }
  return current;
}

/** Where a symbolic link points; `undefined` for anything else, and for nothing at all. */
async function readLinkTarget(path: string): Promise<string | undefined> {
  try {
    const { isSymlink } = await Deno.lstat(path);
    return isSymlink ? await Deno.readLink(path) : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
